//! Parts that are worth a test of their own, without a page.

import { describe, expect, it } from "vitest";
import { tooHeavy } from "../scripts/packed";
import { rowsOf } from "../src/chat/rows";
import { emptyView, fold } from "../src/fold";
import { hunks } from "../src/parts/hunks";
import type { Event } from "../src/proto";
import { grouped } from "../src/sessions/rows";
import { Growing } from "../src/text/growing";
import { visible } from "../src/text/visible";
import { pause } from "../src/wire/backoff";
import { en } from "../src/words/en";
import { zh } from "../src/words/zh";

describe("a diff", () => {
  it("has its lines with their numbers, and what differs in a pair is marked", () => {
    const [hunk] = hunks("@@ -3,3 +3,3 @@\n one\n-let two = 2;\n+let three = 3;\n end\n");
    expect(hunk?.lines).toEqual([
      { kind: "same", old: 3, now: 3, text: "one" },
      { kind: "del", old: 4, text: "let two = 2;", mark: [5, 11] },
      { kind: "add", now: 4, text: "let three = 3;", mark: [5, 13] },
      { kind: "same", old: 5, now: 5, text: "end" },
    ]);
  });

  it("marks nothing in lines that have nothing in common", () => {
    const [hunk] = hunks("@@ -1 +1 @@\n-alpha\n+0123456789\n\\ No newline at end of file\n");
    expect(hunk?.lines.map(({ mark }) => mark)).toEqual([undefined, undefined]);
  });
});

describe("markdown that grows", () => {
  const text =
    "# Title\n\nOne *two* three.\n\n- a\n- b\n  - c\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.";

  it("comes to the same, letter by letter", () => {
    const growing = new Growing();
    for (let at = 1; at <= text.length; at++) growing.read(text.slice(0, at));
    expect(growing.read(text)).toEqual(new Growing().read(text));
  });

  it("does not read again what is settled", () => {
    const growing = new Growing();
    const [first] = growing.read(text);
    expect(growing.read(`${text} More.`)[0]).toBe(first);
  });
});

it("writes out what can't be seen", () => {
  expect(
    visible("a\u202eb\u200b\tc\u{e0041}")
      .map(({ text }) => text)
      .join("|"),
  ).toBe("a|U+202E|b|U+200B|\tc|U+E0041");
});

it("waits longer each time, never long, never the same for all", () => {
  expect([0, 1, 2, 3].map((tried) => pause(tried, 1))).toEqual([250, 500, 1000, 2000]);
  expect(pause(50, 1)).toBe(10_000);
  expect(pause(50, 0)).toBe(5_000);
});

it("tells together what was looked at together", () => {
  const view = emptyView();
  const event = (seq: number, body: object) =>
    ({ seq, ts: "2026-01-01T00:00:00.000Z", session_id: "s", agent_id: "a", ...body }) as unknown as Event;
  const call = (seq: number, id: string, tool: string) => [
    event(seq, { type: "tool_call_update", call_id: id, tool, status: "executing", summary: id }),
    event(seq + 1, {
      type: "tool_call_end",
      call_id: id,
      tool,
      status: "success",
      summary: id,
      output: "",
      duration_ms: 1,
    }),
  ];
  fold(view, [...call(1, "1", "read_file"), ...call(3, "2", "grep"), ...call(5, "3", "bash"), ...call(7, "4", "glob")]);
  expect(rowsOf(view.blocks).map((row) => row.kind)).toEqual(["looks", "block", "block"]);
});

it("puts sessions that want somebody first", () => {
  const row = (id: string, more: object) =>
    ({
      id,
      title: id,
      title_by: null,
      cwd: "/",
      created: "",
      updated: "2026-01-02T10:00:00Z",
      events: 1,
      forked_from: null,
      ...more,
    }) as never;
  const groups = grouped([
    row("done", { state: "at_rest", work: "completed" }),
    row("works", { state: "open", work: "running" }),
    row("asks", { asks: true }),
  ]);
  expect(groups.map(({ kind, sessions }) => [kind, sessions[0]?.id])).toEqual([
    ["wants", "asks"],
    ["works", "works"],
    ["day", "done"],
  ]);
});

it("has every word in every language, and none of them empty", () => {
  const flat = (of: object): [string, unknown][] =>
    Object.entries(of).flatMap(([name, value]) =>
      typeof value === "object" && value !== null
        ? flat(value).map(([rest, inner]): [string, unknown] => [`${name}.${rest}`, inner])
        : [[name, value]],
    );
  const [english, chinese] = [flat(en), flat(zh)];
  expect(chinese.map(([name]) => name).sort()).toEqual(english.map(([name]) => name).sort());
  for (const [name, value] of [...english, ...chinese]) expect(value, name).not.toBe("");
});

it("says what of the page is too heavy", () => {
  const document = '<script src="/assets/a-1.js"></script><link href="/assets/b-1.js"><link href="/assets/c.css">';
  const sizes = (extra: number) =>
    new Map([
      ["a-1.js", 200_000],
      ["b-1.js", 50_000 + extra],
      ["c.css", 25_000 + extra],
      ["later.js", 110_000 + extra],
    ]);
  expect(tooHeavy(document, sizes(0))).toEqual([]);
  expect(tooHeavy(document, sizes(1)).map((what) => what.split(" has")[0])).toEqual([
    "the first script",
    "the first sheet",
    "later.js",
  ]);
});
