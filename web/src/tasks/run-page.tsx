//! A run of a workflow with all its tasks, as it stands now.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { Flow, TaskCard } from "../flow";
import { Icon, SureButton } from "../parts";
import { nameOf } from "../sessions";
import { cancelRun, orderRun, Problem, useIsLive, workflowRun } from "../wire";
import { useFormat, useWords } from "../words";

/** How often is asked how a run stands. */
const OFTEN = 1_500;

const RESUMABLE = ["interrupted", "partly", "failed"];

export function RunPage({ id }: { id: string }) {
  const words = useWords();
  const format = useFormat();
  const [task, setTask] = useState<string>();
  const { data, error } = useQuery({
    queryKey: ["run", id],
    queryFn: () => workflowRun(id),
    refetchInterval: ({ state }) => (state.data?.run.state === "running" ? OFTEN : false),
    retry: (count, problem) => !(problem instanceof Problem && problem.status < 500) && count < 3,
  });
  const { run, graph } = data ?? {};
  const chosen = graph?.tasks.find((each) => each.id === task);
  return (
    <div className="workflows run">
      <div className="sub page-bar">
        <Link href="/workflows" className="btn small ghost icon" aria-label={words.workflows.back}>
          <Icon name="left" small />
        </Link>
        <h1>{run?.name ?? words.workflows.title}</h1>
        {run !== undefined && (
          <>
            <span className="dim cut" title={run.cwd}>
              {nameOf(run.cwd)}
            </span>
            <span className="dim num small cut wide">{format.whole(run.began_ms)}</span>
            <span className="grow" />
            <Link className="btn small" href={`/s/${run.session}/agents`}>
              {words.workflows.openSession}
            </Link>
          </>
        )}
      </div>
      {error !== null && (
        <p className="trouble" role="alert">
          {error instanceof Problem && error.status === 404 ? words.workflows.missing : error.message}
        </p>
      )}
      {run !== undefined && graph == null && <p className="pad mid">{words.workflows.gone}</p>}
      {run !== undefined && graph != null && (
        <div className="agents-stage">
          <Flow
            graph={graph}
            roleOf={() => undefined}
            chosen={chosen?.id}
            onChoose={(each) => setTask(each === task ? undefined : each)}
          >
            <Acts id={run.workflow_id} session={run.session} state={run.state} />
          </Flow>
          {chosen !== undefined && (
            <div className="task-over">
              <TaskCard task={chosen} onClose={() => setTask(undefined)} />
            </div>
          )}
        </div>
      )}
    </div>
  );
}

function Acts({ id, session, state }: { id: string; session: string; state: string }) {
  const words = useWords();
  const isOnline = useIsLive();
  const queries = useQueryClient();
  const [said, setSaid] = useState("");
  const act = async (work: () => Promise<unknown>) => {
    setSaid("");
    try {
      const done = await work();
      if (typeof done === "object" && done !== null && "elsewhere" in done && done.elsewhere === true) {
        setSaid(words.workflows.elsewhere);
      }
    } catch (problem) {
      setSaid(words.tasks.trouble(problem instanceof Error ? problem.message : String(problem)));
    }
    await queries.invalidateQueries({ queryKey: ["run", id] });
  };
  return (
    <>
      {RESUMABLE.includes(state) && (
        <button
          type="button"
          className="btn small"
          disabled={!isOnline}
          onClick={() => void act(() => orderRun(session, id, "resume"))}
        >
          {words.flow.resumeRun}
        </button>
      )}
      {(state === "running" || state === "interrupted") && (
        <SureButton
          className="btn small"
          label={words.flow.cancelRun}
          sure={words.flow.cancelSure}
          disabled={!isOnline}
          onSure={() => void act(() => cancelRun(id))}
        />
      )}
      <span className="dim small" role="status">
        {said}
      </span>
    </>
  );
}
