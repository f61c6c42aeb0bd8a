//! Workflows: which there are in a folder, and the runs there were; a run with all its tasks at its own address.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useRoute } from "wouter";
import { RunGlyph, Steps, stepsOf } from "../flow";
import type { WorkflowEntry, WorkflowRun } from "../proto";
import { nameOf } from "../sessions";
import { useIsLive, workflowRun, workflows } from "../wire";
import { useFormat, useWords } from "../words";
import { FolderField, isWholePath, useFolder } from "./folder-field";
import { RunForm } from "./run-form";
import { RunPage } from "./run-page";

/** How often is asked how runs stand. */
const OFTEN = 4_000;

/** Runs that are listed at first, and how many more each time. */
const PAGE = 30;

export function WorkflowsPage() {
  const [, given] = useRoute<{ run?: string }>("/workflows/:run?");
  return given?.run === undefined ? <Lists /> : <RunPage key={given.run} id={given.run} />;
}

function Lists() {
  const words = useWords();
  const [folder, setFolder, folders] = useFolder();
  const [runs, setRuns] = useState<string>();
  const [most, setMost] = useState(PAGE);
  const asked = isWholePath(folder) ? folder : "";
  const { data, error } = useQuery({
    queryKey: ["workflows", asked, most],
    queryFn: () => workflows(asked, most),
    refetchInterval: OFTEN,
    placeholderData: keepPreviousData,
  });
  return (
    <div className="workflows">
      <div className="sub page-bar">
        <h1>{words.workflows.title}</h1>
        <span className="dim cut wide">{words.workflows.what}</span>
      </div>
      {error !== null && (
        <p className="trouble" role="alert">
          {error.message}
        </p>
      )}
      <section className="wf-part">
        <header>
          <h2>{words.workflows.there}</h2>
          <FolderField label={words.workflows.folder} folder={folder} folders={folders} onFolder={setFolder} />
        </header>
        {asked === "" && <p className="dim">{words.workflows.needsFolder}</p>}
        {asked !== "" && data?.workflows.length === 0 && (
          <p className="dim">
            {words.workflows.none} {words.workflows.noneHow}
          </p>
        )}
        <ul>
          {asked !== "" &&
            data?.workflows.map((entry) => <Entry key={entry.name} entry={entry} onRun={() => setRuns(entry.name)} />)}
        </ul>
      </section>
      <section className="wf-part">
        <header>
          <h2>{words.workflows.runs}</h2>
        </header>
        {data?.runs.length === 0 && <p className="dim">{words.workflows.noRuns}</p>}
        <ul className="wf-runs">
          {data?.runs.map((run) => (
            <li key={run.workflow_id}>
              <RunRow run={run} />
            </li>
          ))}
        </ul>
        {data?.next != null && (
          <button type="button" className="btn" onClick={() => setMost(most + PAGE)}>
            {words.workflows.more}
          </button>
        )}
      </section>
      {runs !== undefined && <RunForm name={runs} folder={asked} onClose={() => setRuns(undefined)} />}
    </div>
  );
}

function Entry({ entry, onRun }: { entry: WorkflowEntry; onRun: () => void }) {
  const words = useWords();
  const isLive = useIsLive();
  const { name, source, file, description, tasks, error } = entry;
  return (
    <li className="wf-entry">
      <span className="t1">
        <span>
          <b className="mono">{name}</b>{" "}
          <span className="dim small" title={file ?? undefined}>
            {words.workflows.source[source]}
            {tasks != null && ` · ${words.workflows.tasks(tasks)}`}
          </span>
        </span>
        <small>{error ?? description}</small>
      </span>
      {error == null ? (
        <button
          type="button"
          className="btn"
          aria-label={words.workflows.runOf(name)}
          disabled={!isLive}
          onClick={onRun}
        >
          {words.workflows.run}
        </button>
      ) : (
        <span className="chip">{words.workflows.cantRun}</span>
      )}
    </li>
  );
}

function RunRow({ run }: { run: WorkflowRun }) {
  const words = useWords();
  const format = useFormat();
  const { workflow_id, name, cwd, state, began_ms, changed_ms } = run;
  const { data } = useQuery({
    queryKey: ["run", workflow_id],
    queryFn: () => workflowRun(workflow_id),
    refetchInterval: state === "running" ? OFTEN : false,
  });
  const graph = data?.graph;
  return (
    <Link href={`/workflows/${workflow_id}`} className="tr">
      <RunGlyph state={state} />
      <span className="t1">
        <span className="cut mono">{name}</span>
        <small className="cut">{words.block.workflowState[state]}</small>
      </span>
      <span className="where cut" title={cwd}>
        {nameOf(cwd)}
      </span>
      <Steps steps={graph == null ? [] : stepsOf(graph.tasks)} />
      <span className="cost r num">
        {state === "running" ? "" : format.duration(Math.max(0, changed_ms - began_ms))}
      </span>
      <span className="since r num">{format.whole(began_ms)}</span>
    </Link>
  );
}
