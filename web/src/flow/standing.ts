//! How tasks of a workflow stand: states, counts, times and steps.

import type { TaskState, WorkflowGraph, WorkflowTask } from "../proto";

/** The states in which people tell tasks apart. */
export const STANDINGS = ["completed", "running", "waits", "failed", "skipped"] as const;

export type Standing = (typeof STANDINGS)[number];

const STANDS: Record<TaskState, Standing> = {
  pending: "waits",
  ready: "waits",
  running: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "skipped",
  skipped: "skipped",
};

export const standingOf = ({ state }: WorkflowTask): Standing => STANDS[state];

export const isOver = (task: WorkflowTask): boolean => !["waits", "running"].includes(standingOf(task));

/** How many tasks stand how; states that none is in are left out. */
export function counted(tasks: readonly WorkflowTask[]): [Standing, number][] {
  return STANDINGS.map((standing): [Standing, number] => [
    standing,
    tasks.filter((task) => standingOf(task) === standing).length,
  ]).filter(([, count]) => count > 0);
}

/** When a run began and ended, as far as its tasks tell. */
export function timesOf({ tasks }: WorkflowGraph): { from_ms?: number; to_ms?: number } {
  const times = (of: "started" | "ended") => tasks.flatMap((task) => (task[of] == null ? [] : [Date.parse(task[of])]));
  const [starts, ends] = [times("started"), times("ended")];
  return {
    ...(starts.length > 0 && { from_ms: Math.min(...starts) }),
    ...(ends.length > 0 && { to_ms: Math.max(...ends) }),
  };
}

/** The run of several that is shown: what runs, else the last one. */
export const shownRunOf = (graphs: readonly WorkflowGraph[]): WorkflowGraph | undefined =>
  graphs.findLast(({ state }) => state === "running") ?? graphs.at(-1);

export type Step = "on" | "now" | "ask" | "bad" | "";

const STEP_OF: Record<Standing, Step> = { completed: "on", running: "now", waits: "", failed: "bad", skipped: "on" };

export const stepsOf = (tasks: readonly WorkflowTask[]): Step[] => tasks.map((task) => STEP_OF[standingOf(task)]);
