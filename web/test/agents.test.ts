//! Agents over time, without a page.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Axis, awaited, type Stretch, stretches, summed } from "../src/agents/lanes";
import { counted, inOrder, marksOf } from "../src/agents/marks";
import { parametersOf } from "../src/agents/parameters";
import { openQuestion, rowNamed, rowsOf, rowWanted } from "../src/agents/tree";
import { type Deed, emptyView, fold, type View } from "../src/fold";
import type { Event } from "../src/proto";

const LOGS = join(import.meta.dirname, "../../fixtures/view/logs");

function recorded(name: string): Event[] {
  const text = readFileSync(join(LOGS, `${name}.jsonl`), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line): Event => JSON.parse(line));
}

/** The view of a recorded session up to the first event that is like this, that one included. */
function until(name: string, like: (event: Event) => boolean): View {
  const events = recorded(name);
  const at = events.findIndex(like);
  expect(at).toBeGreaterThan(0);
  return fold(emptyView(), events.slice(0, at + 1));
}

const stretch = (from_s: number, to_s: number, lane: Stretch["lane"]): Stretch => ({
  from_ms: from_s * 1000,
  to_ms: to_s * 1000,
  lane,
  isNow: false,
});

describe("the tree", () => {
  it("has everybody below whom they were made by, the root first", () => {
    const view = until("agent-cancel-kills-grandchildren", (event) => {
      return event.type === "agent_update" && event.node.name !== "general-1";
    });
    const rows = rowsOf(view);
    expect(rows.map(({ name, level, guides }) => [name, level, guides.join(" ")])).toEqual([
      ["root", 1, ""],
      ["general-1", 2, "end"],
      [rows[2]?.name, 3, "none end"],
    ]);
    expect(rowNamed(rows, "general-1")?.id).toBe(rows[1]?.id);
    expect(rowNamed(rows, rows[1]?.id)?.name).toBe("general-1");
    expect(rowNamed(rows, "nobody")).toBeUndefined();
  });

  it("looks first at who asks, then at who works", () => {
    const view = until("agent-asks-the-person", (event) => {
      return event.type === "permission_request" && event.agent_id !== undefined;
    });
    const asks = rowsOf(view).find(({ standing }) => standing === "asks");
    expect(asks?.level).toBe(2);
    expect(rowWanted(rowsOf(view))).toMatchObject({ name: asks?.name });
    const works = until("agent-redirected", (event) => event.type === "agent_message");
    expect(rowWanted(rowsOf(works))?.name).toBe("coder-1");
  });

  it("knows the question that nobody answered yet", () => {
    const isQuestion = (event: Event) => event.type === "agent_message" && event.letter.kind === "question";
    const asked = until("agent-question", isQuestion);
    const agent = asked.agents[0]?.node.id ?? "";
    expect(openQuestion(asked, agent)).toBe("what is it called?");
    const answered = until("agent-question", (event) => {
      return event.type === "agent_message" && event.letter.kind === "answer";
    });
    expect(openQuestion(answered, agent)).toBeUndefined();
  });

  it("counts what the root used apart from what all used", () => {
    const events = recorded("agent-budget");
    const view = fold(emptyView(), events);
    const used = (own: boolean) =>
      events.reduce((sum, event) => {
        const counts = event.type === "usage" && (!own || event.agent_id === view.root);
        return counts ? sum + event.input : sum;
      }, 0);
    const [root] = rowsOf(view);
    expect([root?.own.input, root?.subtree.input]).toEqual([used(true), used(false)]);
    expect(used(false)).toBeGreaterThan(used(true));
  });
});

describe("lanes", () => {
  it("say who worked, waited and asked, and end when the agent does", () => {
    const view = fold(emptyView(), recorded("agent-redirected"));
    const child = view.activity[view.agents[0]?.node.id ?? ""];
    const of = stretches(child, view.at_ms + 60_000);
    expect(of.map(({ lane }) => lane)).toContain("works");
    // Nothing is drawn of the minute after it ended.
    expect(Math.max(...of.map(({ to_ms }) => to_ms))).toBeLessThanOrEqual(view.at_ms);
    expect(of.some(({ isNow }) => isNow)).toBe(false);
  });

  it("go on until now while somebody works", () => {
    const view = until("agent-redirected", (event) => event.type === "agent_message");
    const now = view.at_ms + 5000;
    const last = stretches(view.activity[view.agents[0]?.node.id ?? ""], now).at(-1);
    expect(last).toMatchObject({ lane: "works", to_ms: now, isNow: true });
  });

  it("sum up, and say whom somebody waited for", () => {
    const of = [stretch(0, 10, "works"), stretch(10, 40, "waits"), stretch(40, 45, "asks")];
    expect(summed(of)).toEqual({ works: 10_000, waits: 30_000, asks: 5000 });
    const others = [
      { name: "before", stretches: [stretch(0, 10, "works")] },
      { name: "meanwhile", stretches: [stretch(20, 30, "works")] },
      { name: "idle", stretches: [stretch(10, 40, "waits")] },
    ];
    expect(awaited(stretch(10, 40, "waits"), others)).toEqual(["meanwhile"]);
  });
});

describe("the axis", () => {
  it("gives time its place", () => {
    const axis = new Axis([stretch(0, 100, "works")], 0, 100_000);
    expect([0, 25_000, 100_000].map((ms) => axis.at(ms))).toEqual([0, 0.25, 1]);
    expect(axis.cuts).toEqual([]);
    expect(axis.at(500_000)).toBe(1);
  });

  it("leaves out time in which nobody worked, and never goes back", () => {
    const day = 86_400;
    const axis = new Axis([stretch(0, 60, "works"), stretch(60, day, "waits"), stretch(day, day + 60, "works")], 0, 1);
    expect(axis.cuts).toHaveLength(1);
    expect(axis.length_ms).toBe(120_000);
    const places = [0, 30, 60, day / 2, day, day + 30, day + 60].map((seconds) => axis.at(seconds * 1000));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(places[2]).toBeCloseTo(0.4875);
    expect(places[4]).toBeCloseTo(0.5125);
  });

  it("writes round times, never too many", () => {
    const ticks = new Axis([stretch(7, 307, "works")], 0, 1).ticks(6);
    expect(ticks.map(({ ms }) => ms / 1000)).toEqual([60, 120, 180, 240]);
    const days = Array.from({ length: 30 }, (_, day) => stretch(day * 86_400, day * 86_400 + 60, "works"));
    expect(new Axis(days, 0, 1).ticks(6).length).toBeLessThanOrEqual(9);
  });

  it("stands when nobody did anything yet", () => {
    expect(new Axis([], 5, 5).at(5)).toBe(0);
  });
});

describe("calls over time", () => {
  const root = (view: View) => view.activity[view.root ?? ""]?.deeds ?? [];

  it("stand as they do, and say how they ended", () => {
    const asks = until("agent-asks-the-person", (event) => {
      return event.type === "tool_call_update" && event.status === "awaiting_approval";
    });
    const deeds = Object.values(asks.activity).flatMap(({ deeds }) => deeds);
    expect(deeds.filter(({ is }) => is === "asks")).toHaveLength(1);
    const over = fold(emptyView(), recorded("agent-asks-the-person"));
    const left = Object.values(over.activity).flatMap(({ deeds }) => deeds);
    expect(left.length).toBeGreaterThanOrEqual(deeds.length);
    expect(left.filter(({ is }) => is === "asks" || is === "runs" || is === "waits")).toEqual([]);
  });

  it("are not kept for ever", () => {
    const [began] = recorded("agent-asks-the-person");
    const events = Array.from({ length: 5_000 }, (_, at) => ({
      ...(began as Event),
      type: "tool_call_end",
      seq: at + 2,
      call_id: `c${at}`,
      tool: "bash",
      summary: `Run ${at}`,
      status: "success",
      output: "",
      duration_ms: 1,
      display: { kind: "terminal", command: "", tail: "", exit_code: at % 2 },
    })) as Event[];
    const view = fold(fold(emptyView(), [began as Event]), events);
    expect(root(view).length).toBeLessThanOrEqual(4_000);
    expect(root(view).slice(-2)).toMatchObject([
      { summary: "Run 4998", is: "done" },
      { summary: "Run 4999", is: "failed" },
    ]);
  });

  it("are one mark where there is no room for each, which looks like what is most worth a look", () => {
    const axis = new Axis([stretch(0, 100, "works")], 0, 100_000);
    const deed = (at_s: number, is: Deed["is"]): Deed => ({ at_ms: at_s * 1000, summary: "", is });
    const deeds = [deed(0, "done"), deed(1, "failed"), deed(2, "runs"), deed(50, "done"), deed(90, "off")];
    expect(marksOf(deeds, axis, 300).map(({ is, deeds }) => [is, deeds.length])).toEqual([
      ["failed", 3],
      ["done", 1],
      ["off", 1],
    ]);
    expect(inOrder(deeds).map(({ is }) => is)).toEqual(["failed", "runs", "done", "done", "off"]);
    const many = Array.from({ length: 3_000 }, (_, at) => deed(at / 30, "done"));
    expect(marksOf(many, axis, 600).length).toBeLessThanOrEqual(75);
    expect(counted(deeds)).toMatchObject({ all: 5, done: 2, failed: 1, runs: 1, off: 1 });
    // Before it is known how wide the axis is, all is one.
    expect(marksOf(deeds, axis, 0)).toHaveLength(1);
  });
});

it("changes only limits that were changed, and takes numbers alone", () => {
  const none = { model: "act", tokens: "", cost: "", tools: "" };
  expect(parametersOf(none, "act")).toEqual({});
  expect(parametersOf({ model: "think", tokens: "5000", cost: "0.5", tools: "Read, grep" }, "act")).toEqual({
    model_group: "think",
    budget: { tokens: 5000, cost: 0.5 },
    tools: ["Read", "grep"],
  });
  for (const wrong of ["x", "-1", "0", "Infinity"]) {
    expect(parametersOf({ ...none, cost: wrong }, "act")).toBeUndefined();
  }
  expect(parametersOf({ ...none, tokens: "1.5" }, "act")).toBeUndefined();
});
