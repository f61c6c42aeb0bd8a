//! Tasks by how they stand, and what a workflow is started with, without a page.

import { describe, expect, it } from "vitest";
import type { SessionRow, WorkflowRun } from "../src/proto";
import { isNeeded, kindOf, readInputs } from "../src/tasks/inputs";
import { costOf, fits, inState, stepsOfTodos, tasksOf } from "../src/tasks/rows";

const NOW = Date.parse("2026-03-10T12:00:00Z");

const ago = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();

const session = (id: string, more: Partial<SessionRow>, hours = 1): SessionRow => ({
  id,
  title: id,
  cwd: "/code/harbor",
  created: ago(hours + 1),
  updated: ago(hours),
  events: 5,
  messages: 1,
  ...more,
});

const run = (id: string, of: string, more: Partial<WorkflowRun>, hours = 1): WorkflowRun => ({
  workflow_id: id,
  name: `flow ${id}`,
  session: of,
  cwd: "/code/harbor",
  state: "completed",
  began_ms: NOW - hours * 3_600_000,
  changed_ms: NOW - hours * 3_600_000,
  ...more,
});

describe("tasks", () => {
  const sessions = [
    session("asks", { state: "open", work: "running", asks: true }),
    session("works", { state: "open", work: "running" }),
    session("paused", { state: "open", work: "paused" }),
    session("crashed", { state: "stopped", work: "running" }, 30),
    session("crashed long ago", { state: "stopped", work: "running" }, 24 * 9),
    session("done", { state: "at_rest", work: "completed", usage: { input: 1, output: 1, cost: 0.25 } }),
    session("done before", { state: "at_rest", work: "failed", usage: { input: 1, output: 1, cost: 0.5 } }, 5),
    session("done yesterday", { state: "at_rest", work: "completed" }, 30),
    session("only opened", { state: "open" }),
  ];

  it("are grouped by what is to be done about them, the last one first", () => {
    const tasks = tasksOf(sessions, [], NOW);
    const ids = (state: Parameters<typeof inState>[1]) => inState(tasks, state).map(({ id }) => id);
    expect(ids("wants")).toEqual(["asks"]);
    expect(ids("running")).toEqual(["works", "paused"]);
    expect(ids("cut")).toEqual(["crashed"]);
    expect(ids("over")).toEqual(["done", "done before"]);
    expect(costOf(tasks)).toBe(0.75);
    expect(costOf([])).toBeUndefined();
  });

  it("have the run that happens in them, once", () => {
    const runs = [
      run("old", "works", {}, 20),
      run("now", "works", { state: "running" }),
      run("done", "done", {}),
      run("elsewhere", "unlisted", { state: "running" }),
      run("broken", "unlisted too", { state: "interrupted" }, 50),
    ];
    const tasks = tasksOf([...sessions, session("run only", { messages: 0, work: "completed" })], runs, NOW);
    const of = (id: string) => tasks.find((task) => task.id === id);
    expect(of("works")?.run?.workflow_id).toBe("now");
    expect(of("works")?.since_ms).toBe(NOW - 3_600_000);
    const runs_only = tasksOf(
      [session("s", { state: "open", messages: 0 })],
      [run("r", "s", { state: "running" })],
      NOW,
    );
    expect(runs_only).toMatchObject([{ state: "running", run: { workflow_id: "r" } }]);
    // A session in which people talk is no run that was.
    expect(of("done")?.run).toBeUndefined();
    expect(of("unlisted")).toMatchObject({ state: "running", title: "flow elsewhere" });
    expect(of("unlisted too")?.state).toBe("cut");
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  });

  it("are found by words", () => {
    const [task] = tasksOf([session("Flaky resume test", { work: "completed", branch: "ci" })], [], NOW);
    if (task === undefined) throw new Error("there is one");
    expect(["", "flaky", "TEST harbor", "ci"].map((words) => fits(task, words))).toEqual([true, true, true, true]);
    expect(fits(task, "flaky quay")).toBe(false);
  });

  it("have steps that say where somebody is waited for", () => {
    const todo = (status: "completed" | "in_progress" | "pending" | "cancelled") => ({ id: status, text: "", status });
    const todos = [todo("completed"), todo("in_progress"), todo("pending"), todo("cancelled")];
    expect(stepsOfTodos(todos, false)).toEqual(["on", "now", ""]);
    expect(stepsOfTodos(todos, true)).toEqual(["on", "ask", ""]);
  });
});

describe("what a workflow is started with", () => {
  const declared = {
    goal: { description: "" },
    check: { description: "", default: "" },
    times: { description: "", default: 3 },
    deep: { description: "", default: false },
    only: { description: "", default: ["a"] },
  };

  it("has the type of its default, and is text without one", () => {
    expect(Object.values(declared).map(kindOf)).toEqual(["text", "text", "number", "yes", "json"]);
    expect(Object.values(declared).map(isNeeded)).toEqual([true, false, false, false, false]);
  });

  it("is read from a form", () => {
    const given: Record<string, string> = { goal: "0.9", check: "", times: "4", deep: "true", only: '["b"]' };
    expect(readInputs(declared, (name) => given[name] ?? "")).toEqual({
      inputs: { goal: "0.9", check: "", times: 4, deep: true, only: ["b"] },
    });
  });

  it("is as usual where nothing is written, and says what is wrong", () => {
    const read = (given: Record<string, string>) => readInputs(declared, (name) => given[name] ?? "");
    expect(read({ goal: "x" })).toEqual({ inputs: { goal: "x", check: "" } });
    expect(read({})).toEqual({ wrong: "goal" });
    expect(read({ goal: "x", times: "often" })).toEqual({ wrong: "times" });
    expect(read({ goal: "x", only: "[" })).toEqual({ wrong: "only" });
  });
});
