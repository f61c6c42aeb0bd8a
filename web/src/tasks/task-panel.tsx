//! One task: what it asks, its steps, what it used, what happened last, and what can be done with it.

import { useState } from "react";
import { Link } from "wouter";
import { isOver, shownRunOf, TaskGlyph } from "../flow";
import { type Block, cleanLine, isLive as isAlive } from "../fold";
import { Glyph, Icon, SureButton } from "../parts";
import type { Command, TodoStatus } from "../proto";
import { SessionContext, useEnded, useFollowed, useIsLive, useSession, useSlices } from "../wire";
import { type Format, useFormat, useWords, type Words } from "../words";
import type { Task } from "./rows";
import { TaskStateGlyph } from "./tasks-page";

type Given = { id: string; task: Task | undefined; isKnown: boolean };

export function TaskPanel({ id, task, isKnown }: Given) {
  const words = useWords();
  return (
    <aside className="inspect agent-panel whole" aria-label={words.tasks.panel}>
      <Link href="/tasks" className="fold back">
        <Icon name="left" small />
        {words.tasks.list}
      </Link>
      {task === undefined ? (
        isKnown && <p className="sect mid">{words.tasks.gone}</p>
      ) : (
        <Followed id={id} task={task} />
      )}
    </aside>
  );
}

function Followed({ id, task }: { id: string; task: Task }) {
  const session = useFollowed(id);
  return (
    <SessionContext value={session}>
      <Head task={task} />
      <StepList />
      <Facts task={task} />
      <LastLines />
    </SessionContext>
  );
}

function Head({ task }: { task: Task }) {
  const words = useWords();
  const session = useSession();
  const isOnline = useIsLive();
  const ended = useEnded();
  const view = useSlices("asked", "standing", "agents", "workflows");
  const [trouble, setTrouble] = useState<string>();
  const send = (command: Command) => {
    setTrouble(undefined);
    session
      .send(command)
      .catch((problem: unknown) => setTrouble(problem instanceof Error ? problem.message : String(problem)));
  };
  const asks = task.state === "wants";
  const asked = asks ? view.blocks.find((block) => block.kind === "approval" && block.data.open) : undefined;
  const works = task.state === "running" || asks;
  const paused = view.agents.filter(({ node }) => node.state === "paused" && node.paused_by === node.id);
  const run = shownRunOf(view.workflows);
  const canResume = run !== undefined && ["interrupted", "partly", "failed"].includes(run.state);
  return (
    <section className={asks ? "sect asks" : "sect"}>
      <header>
        <TaskStateGlyph task={task} />
        <h2>{task.title === "" ? words.untitled : task.title}</h2>
      </header>
      {asked?.kind === "approval" && (
        <p className="say">
          <code>{cleanLine(asked.data.request.summary)}</code>
        </p>
      )}
      {ended !== undefined && <p className="dim">{ended === "" ? words.strip.ended : words.strip.endedWhy(ended)}</p>}
      <div className="acts">
        <Link className={asks ? "btn ask" : "btn"} href={`/s/${task.id}`}>
          {asks ? words.tasks.openAsk : words.tasks.open}
        </Link>
        {run !== undefined && (
          <Link className="btn" href={`/s/${task.id}/agents`}>
            {words.tree.toWorkflows}
          </Link>
        )}
        {paused.length > 0 && (
          <button
            type="button"
            className="btn"
            disabled={!isOnline}
            onClick={() => {
              for (const { node } of paused) {
                send({ type: "agent_command", agent_id: node.id, order: { kind: "resume" } });
              }
            }}
          >
            {words.tasks.goOn}
          </button>
        )}
        {canResume && (
          <button
            type="button"
            className="btn"
            disabled={!isOnline}
            onClick={() => send({ type: "workflow_command", workflow_id: run.workflow_id, order: "resume" })}
          >
            {words.flow.resumeRun}
          </button>
        )}
        <span className="grow" />
        {works && (
          <SureButton
            className="btn danger edged"
            label={words.tasks.stop}
            sure={words.tasks.stopSure}
            title={words.tasks.stopWhat}
            disabled={!isOnline}
            onSure={() => send({ type: "stop_all" })}
          />
        )}
      </div>
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {words.tasks.trouble(trouble)}
        </p>
      )}
    </section>
  );
}

function StepList() {
  const words = useWords();
  const format = useFormat();
  const { todos, workflows } = useSlices("todo", "workflows");
  const run = shownRunOf(workflows);
  const done = run?.tasks.filter(isOver).length ?? todos.filter(({ status }) => status === "completed").length;
  const count = run?.tasks.length ?? todos.length;
  return (
    <section className="sect">
      <header>
        <h2>{words.tasks.steps}</h2>
        {count > 0 && <span className="end">{words.block.todoDone(done, count)}</span>}
      </header>
      {count === 0 && <p className="dim">{words.tasks.noSteps}</p>}
      <ol className="tl">
        {run?.tasks.map((task) => (
          <li key={task.id}>
            <TaskGlyph state={task.state} />
            <span>
              <span className="mono">{task.id}</span>
              <small>{task.error ?? words.flow.kind[task.kind]}</small>
            </span>
            <span className="num dim small">
              {task.started != null && task.ended != null
                ? format.duration(Date.parse(task.ended) - Date.parse(task.started))
                : ""}
            </span>
          </li>
        ))}
        {run === undefined &&
          todos.map(({ id, text, status }) => (
            <li key={id}>
              <TodoGlyph status={status} />
              <span>{text}</span>
            </li>
          ))}
      </ol>
    </section>
  );
}

function TodoGlyph({ status }: { status: TodoStatus }) {
  const { agentState } = useWords().block;
  switch (status) {
    case "completed":
      return <Glyph shape="done" tone="done" label={agentState.completed} />;
    case "in_progress":
      return <Glyph shape="run" tone="run" label={agentState.running} />;
    case "pending":
      return <Glyph shape="wait" tone="wait" label={agentState.created} />;
    case "cancelled":
      return <Glyph shape="off" tone="off" label={agentState.cancelled} />;
  }
}

function Facts({ task }: { task: Task }) {
  const words = useWords();
  const format = useFormat();
  const { standing, agents, at_ms } = useSlices("standing", "agents");
  const { usage } = standing;
  const tokens = usage.input + usage.output;
  const working = agents.filter(({ node }) => isAlive(node.state)).length;
  return (
    <section className="sect">
      <dl className="facts">
        <dt>{words.tasks.where}</dt>
        <dd className="mono">{task.folder}</dd>
        {task.session?.branch != null && (
          <>
            <dt>{words.tasks.branch}</dt>
            <dd className="mono">{task.session.branch}</dd>
          </>
        )}
        {standing.model !== "" && (
          <>
            <dt>{words.tasks.model}</dt>
            <dd>{standing.answers ?? standing.model}</dd>
          </>
        )}
        {tokens > 0 && (
          <>
            <dt>{words.tasks.used}</dt>
            <dd className="num">{[format.tokens(tokens), format.spent(usage)].filter(Boolean).join(" · ")}</dd>
          </>
        )}
        {agents.length > 0 && (
          <>
            <dt>{words.tasks.agents}</dt>
            <dd>
              <Link href={`/s/${task.id}/agents`} className="link">
                {words.tasks.agentsCount(agents.length, working)}
              </Link>
            </dd>
          </>
        )}
        <dt>{words.tasks.began}</dt>
        <dd className="num">
          {format.whole(Date.parse(task.session?.created ?? new Date(task.since_ms).toISOString()))}
        </dd>
        {at_ms > 0 && (
          <>
            <dt>{words.tasks.last}</dt>
            <dd className="num">{format.seconds(at_ms)}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** Lines of the log that are shown. */
const LINES = 8;

function LastLines() {
  const words = useWords();
  const format = useFormat();
  const view = useSlices("blocks", "asked");
  const { id } = useSession();
  const lines: { id: number; seq: number; at_ms: number; text: string; asks: boolean }[] = [];
  for (const block of view.blocks.toReversed()) {
    const text = lineOf(block, words, format);
    if (text === undefined || text === "") continue;
    const asks = (block.kind === "approval" || block.kind === "question") && block.data.open;
    lines.unshift({ id: block.id, seq: block.seq, at_ms: block.at_ms, text, asks });
    if (lines.length === LINES) break;
  }
  return (
    <section className="sect">
      <header>
        <h2>{words.tasks.log}</h2>
        <span className="end">{words.tasks.following}</span>
      </header>
      {lines.length === 0 ? (
        <p className="dim">{words.tasks.noLog}</p>
      ) : (
        <ul className="well log-lines">
          {lines.map((line) => (
            <li key={line.id}>
              <Link href={`/s/${id}?at=${line.seq}`}>
                <time>{format.seconds(line.at_ms)}</time>
                <span className={line.asks ? "cut ask" : "cut"}>{line.text}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** A block in one line; nothing for what says little by itself. */
function lineOf(block: Block, words: Words, format: Format): string | undefined {
  switch (block.kind) {
    case "message":
      return cleanLine(block.data.text);
    case "answer":
      return cleanLine(block.data.pieces.join(""));
    case "call":
      return cleanLine(block.data.summary);
    case "approval":
      return block.data.open ? `${words.call.waits}: ${cleanLine(block.data.request.summary)}` : undefined;
    case "question":
      return block.data.open ? words.call.waits : undefined;
    case "agent":
      return `${words.block.agentDid[block.data.did]} ${block.data.node.name}`;
    case "workflow":
      return `${block.data.name}: ${words.block.workflowState[block.data.state]}`;
    case "error":
      return cleanLine(block.data.message);
    case "end":
      return `${words.block.end[block.data.reason]} · ${format.duration(block.data.duration_ms)}`;
    default:
      return undefined;
  }
}
