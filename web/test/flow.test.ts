//! Workflows as graphs, without a page.

import { describe, expect, it } from "vitest";
import { nextTo, shapeOf } from "../src/flow/shape";
import { counted, stepsOf } from "../src/flow/standing";
import type { TaskState, WorkflowTask } from "../src/proto";
import { laidOut } from "../workers/layout";

const task = (id: string, needs: string[] = [], state: TaskState = "pending"): WorkflowTask => ({
  id,
  kind: "command",
  needs,
  state,
});

describe("a workflow", () => {
  const tasks = [
    task("find", [], "completed"),
    task("unit", ["find"], "running"),
    task("docs", ["find"], "failed"),
    task("judge", ["unit", "docs", "find"]),
    task("publish", ["judge"], "skipped"),
  ];
  const drawn = laidOut(shapeOf(tasks));
  const at = (id: string) => drawn.nodes.find((node) => node.id === id);

  it("goes from left to right, nothing upon another", () => {
    expect(["find", "unit", "judge", "publish"].map((id) => at(id)?.rank)).toEqual([0, 1, 2, 3]);
    expect(at("docs")?.rank).toBe(1);
    expect(Math.abs((at("docs")?.y ?? 0) - (at("unit")?.y ?? 0))).toBeGreaterThan(54);
    expect(drawn.lines).toHaveLength(6);
    for (const { path } of drawn.lines) expect(path).toMatch(/^M[\d.-]+ [\d.-]+C/);
  });

  it("is the same drawing however its tasks stand, and no drawing without them", () => {
    expect(shapeOf(tasks.map((each) => ({ ...each, state: "completed" as const })))).toBe(shapeOf(tasks));
    expect(laidOut(shapeOf([]))).toMatchObject({ nodes: [], lines: [] });
    // A task that is not there is needed by nobody.
    expect(laidOut(shapeOf([task("only", ["gone"])])).lines).toEqual([]);
  });

  it("is walked by arrows along its lines", () => {
    expect(nextTo(drawn, "unit", "left")).toBe("find");
    expect(nextTo(drawn, "judge", "right")).toBe("publish");
    const [upper, lower] = ["unit", "docs"].toSorted((one, other) => (at(one)?.y ?? 0) - (at(other)?.y ?? 0));
    expect(nextTo(drawn, upper ?? "", "down")).toBe(lower);
    expect(nextTo(drawn, lower ?? "", "up")).toBe(upper);
    expect(nextTo(drawn, "find", "left")).toBeUndefined();
  });

  it("is counted by how tasks stand", () => {
    expect(counted(tasks)).toEqual([
      ["completed", 1],
      ["running", 1],
      ["waits", 1],
      ["failed", 1],
      ["skipped", 1],
    ]);
    expect(stepsOf(tasks)).toEqual(["on", "now", "bad", "", "on"]);
  });

  it("of 300 tasks has a place for each", () => {
    const many = Array.from({ length: 300 }, (_, at) => task(`t${at}`, at < 10 ? [] : [`t${at - 10}`, `t${at - 7}`]));
    const { nodes } = laidOut(shapeOf(many));
    expect(new Set(nodes.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`)).size).toBe(300);
  });
});
