//! What files, terminal and prompt are made of: a tree, commands, differences.

import { describe, expect, it } from "vitest";
import { foldersOf, rowsOf as rowsOfTree, treeOf } from "../src/files/tree";
import { emptyView, fold } from "../src/fold";
import { differenceOf } from "../src/prompt/report";
import type { BackgroundCommand, Event } from "../src/proto";
import { listed } from "../src/terminal/commands";

describe("the tree of files", () => {
  const names = ["README.md", "src/", "src/a10.rs", "src/a2.rs", "src/deep/down/b.rs", "src/Z.rs"];

  it("has folders first, and those that are only in names of others", () => {
    const rows = rowsOfTree(treeOf(names), new Set(["src", "src/deep"]), "");
    expect(rows.map(({ name, depth, isOpen }) => `${"  ".repeat(depth)}${name}${isOpen ? "/" : ""}`)).toEqual([
      "src/",
      "  deep/",
      "    down",
      "  a2.rs",
      "  a10.rs",
      "  Z.rs",
      "README.md",
    ]);
  });

  it("with words is every file that has them in its path", () => {
    expect(rowsOfTree(treeOf(names), new Set(), "SRC a").map(({ path }) => path)).toEqual(["src/a2.rs", "src/a10.rs"]);
    expect(foldersOf("src/deep/down/b.rs")).toEqual(["src", "src/deep", "src/deep/down"]);
  });
});

describe("commands", () => {
  const event = (seq: number, agent: string, body: object) =>
    ({
      seq,
      ts: `2026-01-01T00:00:${String(seq).padStart(2, "0")}.000Z`,
      session_id: "s",
      agent_id: agent,
      ...body,
    }) as Event;
  const begins = (seq: number, agent: string, id: string) =>
    event(seq, agent, {
      type: "tool_call_update",
      call_id: id,
      tool: "bash",
      status: "executing",
      summary: `Run ${id}`,
    });
  const ends = (seq: number, agent: string, id: string, more: object) =>
    event(seq, agent, {
      type: "tool_call_end",
      call_id: id,
      tool: "bash",
      summary: `Run ${id}`,
      status: "success",
      output: "",
      duration_ms: 5,
      ...more,
    });
  const display = (command: string, more: object) => ({ display: { kind: "terminal", command, tail: "", ...more } });

  it("are those of all agents, by how they ended, the newest first", () => {
    const view = fold(emptyView(), [
      event(1, "root", { type: "session_start", cwd: "/", model: "m", mode: "agent", approval: "auto", sandbox: "" }),
      begins(2, "root", "one"),
      event(3, "root", { type: "tool_output_chunk", call_id: "one", stream: "output", text: "print" }),
      begins(4, "child", "two"),
      ends(5, "child", "two", display("make two", { exit_code: 2 })),
      begins(6, "root", "three"),
      ends(7, "root", "three", display("serve", { background: "bg-1" })),
      begins(8, "child", "four"),
      event(9, "child", { type: "agent_complete", reason: "failed", final: "", turns: 1, usage: {}, duration_ms: 1 }),
    ]);
    const background: BackgroundCommand[] = [
      { agent_id: "root", name: "bg-1", command: "serve", started: "2026-01-01T00:00:06.000Z" },
      { agent_id: "child", name: "bg-1", command: "gone", started: "2026-01-01T00:00:00.000Z", ended: { took_ms: 3 } },
    ];
    expect(view.runs.get("one")?.printed).toBe("print");
    expect(listed(view.runs.values(), background).map(({ command, ends }) => [command, ends])).toEqual([
      ["Run four", { kind: "lost" }],
      ["serve", { kind: "running" }],
      ["make two", { kind: "exit", code: 2 }],
      ["Run one", { kind: "running" }],
      ["gone", { kind: "killed" }],
    ]);
  });

  it("of a process that is gone are not known to run", () => {
    const start = { type: "session_start", cwd: "/", model: "m", mode: "agent", approval: "auto", sandbox: "" };
    const view = fold(emptyView(), [
      event(1, "root", start),
      begins(2, "root", "one"),
      event(3, "root", { ...start, resumed: true }),
    ]);
    expect(listed(view.runs.values(), []).map(({ ends }) => ends.kind)).toEqual(["lost"]);
  });
});

it("tells which lines came and how many went", () => {
  const { came, went } = differenceOf("a\nb\nc\nb", "a\nb\nx\nb\nb");
  expect([...came]).toEqual([3, 5]);
  expect(went).toBe(1);
});
