//! Background runs, sessions at work and workflow runs as one list, by how they stand.

import type { Step } from "../flow";
import type { SessionRow, SessionSnapshot, Todo, WorkflowRun } from "../proto";

export const STATES = ["wants", "running", "cut", "over"] as const;

export type TaskState = (typeof STATES)[number];

/** One thing that is or was done: a session, or a run of a workflow whose session is not listed. */
export type Task = {
  /** The session it happens in, which is its address. */
  id: string;
  state: TaskState;
  title: string;
  folder: string;
  session?: SessionRow;
  run?: WorkflowRun;
  since_ms: number;
};

const DAY = 24 * 60 * 60 * 1000;

/** How far back what is over is shown. */
const OVER_MS = DAY;

/** What was cut in the middle is shown for so long. */
const CUT_MS = 7 * DAY;

function stateOf(row: SessionRow, run: WorkflowRun | undefined, now: number): TaskState | undefined {
  const age = now - Date.parse(row.updated);
  if (row.asks === true) return "wants";
  // What the root does is told of a session; its workflow is work, too.
  const works = row.work === "running" || row.work === "paused" || run?.state === "running";
  if (row.state === "open" && works) return "running";
  if (row.state === "stopped" || run?.state === "interrupted") return age < CUT_MS ? "cut" : undefined;
  // What was only opened and left is nothing that was done.
  return (row.work != null || run !== undefined) && age < OVER_MS ? "over" : undefined;
}

function stateOfRun({ state, changed_ms }: WorkflowRun, now: number): TaskState | undefined {
  const age = now - changed_ms;
  if (state === "running") return "running";
  if (state === "interrupted") return age < CUT_MS ? "cut" : undefined;
  return age < OVER_MS ? "over" : undefined;
}

/** What there is, the newest first in each state. A session and the last run in it are one thing. */
export function tasksOf(sessions: readonly SessionRow[], runs: readonly WorkflowRun[], now: number): Task[] {
  const lastRun = new Map<string, WorkflowRun>();
  for (const run of runs) {
    const known = lastRun.get(run.session);
    if (known === undefined || known.began_ms < run.began_ms) lastRun.set(run.session, run);
  }
  const listed = new Set(sessions.map(({ id }) => id));
  const own = sessions.flatMap((session): Task[] => {
    const run = lastRun.get(session.id);
    const state = stateOf(session, run, now);
    if (state === undefined) return [];
    // A run is shown with its session for as long as it is what happens there.
    const shown = run !== undefined && (session.messages ?? 0) === 0 ? run : run?.state === "running" ? run : undefined;
    return [
      {
        id: session.id,
        state,
        title: session.title,
        folder: session.cwd,
        session,
        ...(shown !== undefined && { run: shown }),
        since_ms: shown?.began_ms ?? Date.parse(session.single === true ? session.created : session.updated),
      },
    ];
  });
  const others = [...lastRun.values()].flatMap((run): Task[] => {
    const state = listed.has(run.session) ? undefined : stateOfRun(run, now);
    if (state === undefined) return [];
    return [{ id: run.session, state, title: run.name, folder: run.cwd, run, since_ms: run.began_ms }];
  });
  return [...own, ...others];
}

export const inState = (tasks: readonly Task[], state: TaskState): Task[] =>
  tasks
    .filter((task) => task.state === state)
    .sort((one, other) => (other.session?.updated ?? "").localeCompare(one.session?.updated ?? ""));

/** What a session is about to do, step by step. */
export function stepsOfTodos(todos: readonly Todo[], asks: boolean): Step[] {
  const steps = todos.filter(({ status }) => status !== "cancelled");
  return steps.map(({ status }) =>
    status === "completed" ? "on" : status === "in_progress" ? (asks ? "ask" : "now") : "",
  );
}

/** What a person is asked in a session, in one line. */
export function askOf(snapshot: SessionSnapshot | undefined): string | undefined {
  const [pending] = snapshot?.pending ?? [];
  if (pending !== undefined) return pending.summary;
  const [question] = snapshot?.questions ?? [];
  if (question === undefined) return undefined;
  if (question.about === "choices") return question.items[0]?.text;
  return question.about === "loop" ? question.text : undefined;
}

/** What several cost together; nothing where no price is known. */
export function costOf(tasks: readonly Task[]): number | undefined {
  const costs = tasks.flatMap(({ session }) => (session?.usage?.cost == null ? [] : [session.usage.cost]));
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}

/** Whether a task has all of these words somewhere. */
export function fits({ title, folder, run, session }: Task, words: string): boolean {
  const text = `${title} ${folder} ${run?.name ?? ""} ${session?.branch ?? ""}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
