//! Everything that works or worked without anybody looking: by state, each with its steps, and one of them beside.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useRoute } from "wouter";
import { RunGlyph, Steps, stepsOf } from "../flow";
import { Glyph, Icon } from "../parts";
import { nameOf } from "../sessions";
import { snapshot, useIsLive, useRows, workflowRun, workflows } from "../wire";
import { useFormat, useWords } from "../words";
import { NewTask } from "./new-task";
import { askOf, costOf, fits, inState, STATES, stepsOfTodos, type Task, type TaskState, tasksOf } from "./rows";
import { TaskPanel } from "./task-panel";

/** How often is asked how something stands that runs. */
const OFTEN = 4_000;

/** How often is asked for runs. */
const SELDOM = 10_000;

export function TasksPage() {
  const words = useWords();
  const [, given] = useRoute<{ id?: string }>("/tasks/:id?");
  const [filter, setFilter] = useState("");
  const [makes, setMakes] = useState(false);
  const isLive = useIsLive();
  const sessions = useRows();
  const { data } = useQuery({
    queryKey: ["runs"],
    queryFn: () => workflows(""),
    refetchInterval: SELDOM,
  });
  const all = tasksOf(sessions ?? [], data?.runs ?? [], Date.now());
  const shown = all.filter((task) => fits(task, filter.trim()));
  const chosen = all.find(({ id }) => id === given?.id);
  const isOne = given?.id !== undefined;
  return (
    <div className={isOne ? "agents one" : "agents"}>
      {/* Where one task has the page, the list with its name is away. */}
      <h1 className="hidden-label">{words.tasks.title}</h1>
      <div className="agents-stage">
        <div className="sub page-bar">
          <b aria-hidden="true">{words.tasks.title}</b>
          <span className="grow" />
          <label className="field find">
            <Icon name="find" small />
            <input
              type="search"
              aria-label={words.tasks.find}
              placeholder={words.tasks.find}
              value={filter}
              onChange={(event) => setFilter(event.target.value)}
            />
          </label>
          <button type="button" className="btn solid" disabled={!isLive} onClick={() => setMakes(true)}>
            <Icon name="plus" small />
            {words.tasks.make}
          </button>
        </div>
        <Figures tasks={all} />
        {sessions !== undefined && all.length === 0 ? (
          <div className="page">
            <h2>{words.tasks.none}</h2>
            <p className="mid">{words.tasks.noneHow}</p>
          </div>
        ) : (
          <div className="tt" aria-busy={sessions === undefined}>
            <div className="tr head" aria-hidden="true">
              <span />
              <span>{words.tasks.columns.task}</span>
              <span className="where">{words.tasks.columns.where}</span>
              <span>{words.tasks.columns.steps}</span>
              <span className="cost r">{words.tasks.columns.cost}</span>
              <span className="since r">{words.tasks.columns.since}</span>
            </div>
            {shown.length === 0 && all.length > 0 && <p className="dim pad">{words.tasks.nothingFits}</p>}
            {STATES.map((state) => (
              <Group key={state} state={state} tasks={inState(shown, state)} chosen={given?.id} />
            ))}
          </div>
        )}
      </div>
      {isOne ? (
        <TaskPanel key={given?.id} id={given?.id ?? ""} task={chosen} isKnown={sessions !== undefined} />
      ) : (
        <aside className="inspect agent-panel" aria-label={words.tasks.panel}>
          <p className="sect dim">{words.tasks.pick}</p>
        </aside>
      )}
      {makes && <NewTask onClose={() => setMakes(false)} />}
    </div>
  );
}

/** How much there is, in a line. */
function Figures({ tasks }: { tasks: readonly Task[] }) {
  const words = useWords();
  const format = useFormat();
  const count = (state: TaskState) => inState(tasks, state).length;
  const failed = inState(tasks, "over").filter(({ session }) => session?.work === "failed").length;
  const cost = costOf(tasks);
  return (
    <div className="figs">
      <div className="fig">
        <b>{count("running")}</b>
        <span>{words.tasks.running(count("running"))}</span>
      </div>
      <div className="fig">
        <b>{count("wants")}</b>
        <span>{words.tasks.wants(count("wants"))}</span>
      </div>
      <div className="fig">
        <b>{count("over")}</b>
        <span>{words.tasks.over(failed)}</span>
      </div>
      {cost !== undefined && (
        <div className="fig">
          <b>{format.cost(cost)}</b>
          <span>{words.tasks.spent}</span>
        </div>
      )}
    </div>
  );
}

type GroupGiven = { state: TaskState; tasks: readonly Task[]; chosen: string | undefined };

function Group({ state, tasks, chosen }: GroupGiven) {
  const words = useWords();
  const format = useFormat();
  const [isFolded, setFolded] = useState(false);
  if (tasks.length === 0) return null;
  const cost = costOf(tasks);
  return (
    <section aria-label={words.tasks.state[state]}>
      <h2>
        <button type="button" className="tgroup" aria-expanded={!isFolded} onClick={() => setFolded(!isFolded)}>
          <Icon name={isFolded ? "right" : "down"} small />
          {words.tasks.state[state]} <span className="num dim">{tasks.length}</span>
          <span className="grow" />
          {cost !== undefined && <span className="num dim">{format.cost(cost)}</span>}
        </button>
      </h2>
      {!isFolded && (
        <ul>
          {tasks.map((task) => (
            <li key={task.id}>
              <TaskRow task={task} isChosen={task.id === chosen} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What a task's row needs of the server besides the list. */
function useMore({ id, state, run }: Task) {
  const isAlive = state === "wants" || state === "running";
  const { data: stands } = useQuery({
    queryKey: ["snapshot", id],
    queryFn: () => snapshot(id),
    enabled: isAlive,
    refetchInterval: OFTEN,
  });
  const { data: ran } = useQuery({
    queryKey: ["run", run?.workflow_id],
    queryFn: () => workflowRun(run?.workflow_id ?? ""),
    enabled: run !== undefined,
    refetchInterval: isAlive ? OFTEN : false,
  });
  return { stands: isAlive ? stands : undefined, graph: ran?.graph };
}

function TaskRow({ task, isChosen }: { task: Task; isChosen: boolean }) {
  const words = useWords();
  const format = useFormat();
  const { stands, graph } = useMore(task);
  const { id, state, title, folder, session, run, since_ms } = task;
  const asks = state === "wants";
  const steps = graph != null ? stepsOf(graph.tasks) : stepsOfTodos(stands?.todos ?? [], asks);
  const about = asks ? (askOf(stands) ?? words.asksYou) : run === undefined ? undefined : words.tasks.runOf(run.name);
  const spent = session?.usage == null ? undefined : format.spent(session.usage);
  const name = title === "" ? words.untitled : title;
  return (
    <Link href={`/tasks/${id}`} className={isChosen ? "tr sel" : "tr"} aria-current={isChosen ? "true" : undefined}>
      <TaskStateGlyph task={task} />
      <span className={asks ? "t1 wants" : "t1"}>
        <span className="cut">{name}</span>
        <small className="cut">
          {[about, session?.single === true ? words.tasks.single : undefined].filter(Boolean).join(" · ")}
        </small>
      </span>
      <span className="where cut" title={folder}>
        <Icon name="folder" small />
        <span className="cut">{[nameOf(folder), session?.branch].filter(Boolean).join(" · ")}</span>
      </span>
      <Steps steps={steps} />
      <span className="cost r num">{spent}</span>
      <span className="since r num">
        {new Date(since_ms).toDateString() === new Date().toDateString()
          ? format.clock(since_ms)
          : format.date(since_ms)}
      </span>
    </Link>
  );
}

export function TaskStateGlyph({ task: { state, session, run } }: { task: Task }) {
  const words = useWords();
  const states = words.block.agentState;
  if (state === "wants") return <Glyph shape="ask" tone="ask" label={words.asked.waitsForYou} />;
  if (session?.work === "paused") return <Glyph shape="pause" tone="off" label={states.paused} />;
  if (run !== undefined && (session === undefined || state !== "over")) return <RunGlyph state={run.state} />;
  if (state === "running") return <Glyph shape="run" tone="run" label={states.running} />;
  if (state === "cut") return <Glyph shape="off" tone="off" label={words.stopped} />;
  if (session?.work === "failed") return <Glyph shape="fail" tone="fail" label={states.failed} />;
  if (session?.work === "cancelled") return <Glyph shape="off" tone="off" label={states.cancelled} />;
  return <Glyph shape="done" tone="done" label={states.completed} />;
}
