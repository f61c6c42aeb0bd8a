//! The review of changes, as far as it is worth a test without a page.

import { describe, expect, it, vi } from "vitest";
import { sideOf } from "../src/changes/colours";
import { goingOf, isFileKept, NOTHING_SAID, reviewed, withKept, without } from "../src/changes/marks";
import { numbered, paired } from "../src/changes/pairs";
import { addressOf, isNow, rangeIn } from "../src/changes/range";
import { keptOf, messageOf, placeOf, quoteOf, type Remark, remarksIn, withRemark } from "../src/changes/remarks";
import { hunkKey, LARGE, type Row, type Sheet, sheetRows, step, stops } from "../src/changes/rows";
import { fileOf, linesOf } from "../src/changes/shown";
import { cellsBetween, changedLine, nextLine, pickedOf } from "../src/changes/spans";
import { inOrder, treeOf } from "../src/changes/tree";
import { Turns } from "../src/changes/turns";
import { purposeOf } from "../src/chat/call-words";
import { emptyView, fold } from "../src/fold";
import type { Event, Hunk, HunkLine } from "../src/proto";
import { en } from "../src/words/en";

const same = (text: string): HunkLine => ({ kind: "same", text });
const gone = (text: string, ...marks: [number, number][]): HunkLine => ({ kind: "removed", text, marks });
const came = (text: string, ...marks: [number, number][]): HunkLine => ({ kind: "added", text, marks });

const hunk = (id: string, before: number, after: number, ...lines: HunkLine[]): Hunk => ({ id, before, after, lines });

const file = (path: string, more: object = {}) =>
  fileOf({ path, kind: "modified", mark: `mark of ${path}`, added: 2, removed: 1, hunks: 2, ...more });

/** A file of 40 lines with a change at 7 and one at 30. */
const FIRST = hunk("one", 6, 6, same("a"), gone("b"), came("c"), came("d"), same("e"));
const SECOND = hunk("two", 30, 31, gone("x"));
const LINES = linesOf({
  path: "src/a.rs",
  kind: "modified",
  mark: "mark of src/a.rs",
  lines_before: 40,
  lines_after: 40,
  hunks: [FIRST, SECOND],
});

const sheet = (more: Partial<Sheet> = {}): Sheet => ({
  files: [file("src/a.rs")],
  lines: () => LINES,
  isFolded: () => false,
  unfolded: new Map(),
  isBeside: true,
  remarks: [],
  writing: undefined,
  ...more,
});

/** A row in a few letters. */
const told = (row: Row): string => {
  switch (row.kind) {
    case "pair":
      return `${row.pair.left?.text ?? "·"}|${row.pair.right?.text ?? "·"}`;
    case "line":
      return `${row.cell.kind} ${row.cell.text}`;
    case "unchanged":
      return `= ${row.gap.from} +${row.gap.count}`;
    case "hunk":
      return `@${row.hunk.id}`;
    case "note":
      return row.note;
    case "remark":
      return `“${row.remark.text}”`;
    default:
      return row.kind;
  }
};

describe("the range in the address", () => {
  it("comes to the same both ways, and what is usual is left out", () => {
    expect(rangeIn("from=3&to=4f2a&file=src%2Fa.rs")).toEqual({ from: "3", to: "4f2a", file: "src/a.rs" });
    expect(addressOf("/s/1/changes", { from: "1", to: "now" })).toBe("/s/1/changes");
    const range = { from: "2", to: "end", file: "a b&c.rs" };
    expect(rangeIn(addressOf("/x", range).slice(3))).toEqual(range);
  });

  it("says whether it is the files as they are now", () => {
    expect([isNow({}), isNow({ to: "now" }), isNow({ to: "end" }), isNow({ to: "2" })]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

describe("lines beside each other", () => {
  const pairs = (...lines: HunkLine[]) =>
    paired(numbered(hunk("h", 1, 1, ...lines))).map(({ left, right }) => [left?.text, right?.text]);

  it("have what came right of what went, and nothing where there is less", () => {
    expect(pairs(same("a"), gone("b"), came("c"), came("d"), same("e"))).toEqual([
      ["a", "a"],
      ["b", "c"],
      [undefined, "d"],
      ["e", "e"],
    ]);
  });

  it("stand beside the line that they stand for, as far as words tell", () => {
    expect(
      pairs(gone("let r = 1;", [8, 9]), gone("}"), came("loop {"), came("let r = 2;", [8, 9]), came("}}")),
    ).toEqual([
      [undefined, "loop {"],
      ["let r = 1;", "let r = 2;"],
      ["}", "}}"],
    ]);
  });

  it("are paired anew after something came", () => {
    expect(pairs(came("a"), gone("b"), came("c"))).toEqual([
      [undefined, "a"],
      ["b", "c"],
    ]);
  });

  it("count both sides", () => {
    expect(numbered(FIRST).map(({ before, after }) => [before, after])).toEqual([
      [6, 6],
      [7, undefined],
      [undefined, 7],
      [undefined, 8],
      [8, 9],
    ]);
  });
});

describe("the sheet", () => {
  it("folds what nobody changed, before, between and after changes", () => {
    expect(sheetRows(sheet()).map(told)).toEqual([
      "file",
      "= 1 +5",
      "@one",
      "a|a",
      "b|c",
      "·|d",
      "e|e",
      "= 10 +21",
      "@two",
      "x|·",
      "= 31 +10",
    ]);
  });

  it("has every line for itself where there is little room", () => {
    const rows = sheetRows(sheet({ isBeside: false }));
    expect(rows.slice(3, 8).map(told)).toEqual(["same a", "removed b", "added c", "added d", "same e"]);
  });

  it("has a key of its own for every row", () => {
    for (const isBeside of [true, false]) {
      const keys = sheetRows(sheet({ isBeside })).map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
    }
  });

  it("shows what was unfolded with its numbers on both sides", () => {
    const gap = sheetRows(sheet()).findLast((row) => row.kind === "unchanged");
    const unfolded = new Map([[gap?.key ?? "", ["end"]]]);
    const rows = sheetRows(sheet({ unfolded, isBeside: false }));
    expect(rows.at(-2)).toMatchObject({ kind: "line", cell: { text: "end", before: 31, after: 31 } });
    // What did not come yet stays folded; of another content nothing is unfolded.
    expect(rows.at(-1)).toMatchObject({ kind: "unchanged", gap: { from: 32, count: 9 } });
    const other = sheetRows(sheet({ unfolded, lines: () => ({ ...LINES, mark: "other" }) }));
    expect(other.at(-1)).toMatchObject({ kind: "unchanged", gap: { from: 31, count: 10 } });
  });

  it("says what it does not show", () => {
    const one = (more: object, lines?: Sheet["lines"]) =>
      sheetRows(sheet({ files: [file("src/a.rs", more)], ...(lines && { lines }) })).map(told);
    expect(one({ binary: true })).toEqual(["file", "binary"]);
    expect(one({}, () => undefined)).toEqual(["file", "comes"]);
    expect(one({}, () => "trouble")).toEqual(["file", "trouble"]);
    expect(one({}, () => ({ ...LINES, hunks: [] }))).toEqual(["file", "same"]);
    expect(one({}, () => ({ ...LINES, hunks: [SECOND], cut: true })).at(-1)).toBe("cut");
    const large = sheet({ files: [file("src/a.rs", { added: LARGE })], isFolded: () => true });
    expect(sheetRows(large).map(told)).toEqual(["file", "large"]);
    expect(sheetRows(sheet({ isFolded: () => true })).map(told)).toEqual(["file"]);
  });

  it("puts a remark below its line, and above all where its line is not shown", () => {
    const remark = (id: string, side: "before" | "after", line: number): Remark => {
      return { id, path: "src/a.rs", side, line, quoted: "q", text: id };
    };
    const remarks = [remark("on d", "after", 8), remark("on b", "before", 7), remark("far", "after", 25)];
    const rows = sheetRows(sheet({ remarks, writing: { path: "src/a.rs", side: "before", line: 30 } })).map(told);
    expect(rows).toEqual([
      "file",
      "“far”",
      "= 1 +5",
      "@one",
      "a|a",
      "b|c",
      "“on b”",
      "·|d",
      "“on d”",
      "e|e",
      "= 10 +21",
      "@two",
      "x|·",
      "write",
      "= 31 +10",
    ]);
  });

  it("tells apart what others changed, last", () => {
    const files = inOrder([file("z.rs"), file("a.lock", { by_others: true }), file("b/c.rs")]);
    expect(files.map(({ path }) => path)).toEqual(["z.rs", "b/c.rs", "a.lock"]);
    const rows = sheetRows(sheet({ files, isFolded: () => true })).map(({ key }) => key);
    expect(rows).toEqual(["z.rs", "b/c.rs", "others", "a.lock"]);
    expect(treeOf(files).map(({ key }) => key)).toEqual(["z.rs", "b/", "b/c.rs", "others", "a.lock"]);
  });

  it("is gone through change by change, also over files that are not there yet", () => {
    const files = [file("src/a.rs"), file("src/b.rs")];
    const all = stops(files, (path) => (path === "src/a.rs" ? LINES : undefined));
    expect(all.map(({ path, hunk }) => [path, hunk])).toEqual([
      ["src/a.rs", "one"],
      ["src/a.rs", "two"],
      ["src/b.rs", undefined],
    ]);
    expect(step(all, undefined, 1)).toEqual(all[0]);
    expect(step(all, all[0], 1)).toEqual(all[1]);
    expect(step(all, all[2], 1)).toBeUndefined();
    // From the head of a file to its first change, and to the last one before it.
    expect(step(all, { path: "src/a.rs", hunk: undefined }, 1)).toEqual(all[0]);
    expect(step(all, { path: "src/b.rs", hunk: "new" }, -1)).toEqual(all[1]);
    expect(hunkKey("src/a.rs", "two")).toBe(
      sheetRows(sheet()).find(({ kind, key }) => kind === "hunk" && key.endsWith("two"))?.key,
    );
  });
});

describe("the sides of a change", () => {
  it("are texts of their own, with the place of each of their lines", () => {
    expect(sideOf(FIRST, "before")).toEqual({ text: "a\nb\ne", starts: [0, 2, 4], first: 6 });
    expect(sideOf(FIRST, "after")).toEqual({ text: "a\nc\nd\ne", starts: [0, 2, 4, 6], first: 6 });
  });

  it("of lines that were unfolded are the same as long as these are", () => {
    const gap = sheetRows(sheet()).findLast((row) => row.kind === "unchanged");
    const unfolded = new Map([[gap?.key ?? "", ["one", "two"]]]);
    const last = () => sheetRows(sheet({ unfolded })).findLast((row) => row.kind === "pair");
    expect(last()?.hunk).toMatchObject({ before: 31, after: 31, lines: [{ text: "one" }, { text: "two" }] });
    expect(last()?.hunk.lines).toBe(last()?.hunk.lines);
  });
});

describe("lines that wait for their colours", () => {
  it("get them some in each frame, and none while somebody scrolls past", () => {
    const frames: (() => void)[] = [];
    let now = 0;
    vi.stubGlobal("requestAnimationFrame", (go: () => void) => frames.push(go));
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const turns = new Turns();
    let done = 0;
    const wait = () => turns.wait(() => (done += 1));
    for (let line = 0; line < 30; line++) wait();
    wait()();
    const frame = () => frames.shift()?.();
    frame();
    expect(done).toBe(24);
    now = 1_000;
    turns.moved(0, 990);
    turns.moved(400, 1_000);
    frame();
    expect([done, turns.isResting(now)]).toEqual([24, false]);
    // Whoever scrolls slowly reads.
    now = 1_200;
    turns.moved(420, 1_200);
    frame();
    expect([done, turns.isResting(now)]).toEqual([30, true]);
    expect(frames).toEqual([]);
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
});

describe("lines that are chosen", () => {
  const rows = sheetRows(sheet());
  const place = (text: string) => rows.findIndex((row) => told(row) === text);

  it("are those between two rows on one side, as far as they follow each other", () => {
    const between = (from: string, to: string, isRight: boolean) =>
      cellsBetween(rows, place(from), place(to), isRight).map(({ text }) => text);
    expect(between("a|a", "·|d", true)).toEqual(["a", "c", "d"]);
    expect(between("e|e", "a|a", false)).toEqual(["a", "b", "e"]);
    expect(between("a|a", "x|·", true)).toEqual(["a", "c", "d", "e"]);
  });

  it("go on line by line, and end where lines are folded", () => {
    expect(nextLine(rows, place("b|c"), 1, true)).toBe(place("·|d"));
    expect(nextLine(rows, place("b|c"), 1, false)).toBe(place("e|e"));
    expect(nextLine(rows, place("e|e"), 1, true)).toBe(place("e|e"));
    expect(nextLine(rows, place("a|a"), -1, true)).toBe(place("a|a"));
  });

  it("begin with what is different", () => {
    const key = (text: string) => rows[place(text)]?.key;
    const first = changedLine(rows, undefined, 1);
    expect(first).toEqual({ from: key("b|c"), to: key("b|c"), isRight: true });
    expect(changedLine(rows, { path: "src/a.rs", hunk: "one" }, -1)?.from).toBe(key("·|d"));
    expect(changedLine(rows, { path: "src/a.rs", hunk: "two" }, 1)).toMatchObject({ from: key("x|·"), isRight: false });
    expect(changedLine(rows, { path: "other", hunk: undefined }, 1)).toBeUndefined();
  });

  it("are marked on their side, and have what is written below the last of them", () => {
    const writing = { path: "src/a.rs", side: "after" as const, line: 7, to: 8 };
    expect(rows.map((row) => pickedOf(row, writing)).filter(Boolean)).toEqual(["right", "right"]);
    const written = sheetRows(sheet({ writing }));
    const at = written.findIndex(({ kind }) => kind === "write");
    expect(told(written[at - 1] as Row)).toBe("·|d");
    expect(written[at]).toMatchObject({ cells: numbered(FIRST) });
  });
});

describe("review marks", () => {
  const one = file("src/a.rs");

  it("make a file kept as a whole, or when each of its changes is", () => {
    expect(isFileKept(one, LINES, NOTHING_SAID)).toBe(false);
    expect(isFileKept({ ...one, kept: true }, LINES, NOTHING_SAID)).toBe(true);
    expect(isFileKept({ ...one, hunks_kept: 2 }, undefined, NOTHING_SAID)).toBe(true);
    expect(isFileKept(one, LINES, new Map([["one", true]]))).toBe(false);
    const said = new Map([
      ["one", true],
      ["two", true],
    ]);
    expect(isFileKept(one, LINES, said)).toBe(true);
    // What was said here counts before it is known to be taken.
    expect(isFileKept({ ...one, kept: true }, LINES, new Map([[one.mark, false]]))).toBe(false);
    // Lines of another content say nothing of this one.
    expect(isFileKept(one, { ...LINES, mark: "older" }, said)).toBe(false);
  });

  it("count the files of the session alone", () => {
    const files = [file("a", { kept: true }), file("b"), file("c", { by_others: true, kept: true })];
    expect(reviewed(files, (each) => isFileKept(each, undefined, NOTHING_SAID))).toEqual({ kept: 1, all: 2 });
  });

  it("are taken over from what the server keeps, and nothing is drawn anew without need", () => {
    expect(withKept(LINES, new Set(["other"]))).toBe(LINES);
    expect(withKept(LINES, new Set(["two"])).hunks.map(({ kept }) => kept)).toEqual([false, true]);
    const whole = withKept(LINES, new Set([LINES.mark]));
    expect([whole.kept, ...whole.hunks.map(({ kept }) => kept)]).toEqual([true, true, true]);
    expect(withKept(whole, new Set()).hunks.map(({ kept }) => kept)).toEqual([false, false]);
  });

  it("leave the other changes kept when one is not any more", () => {
    expect(without({ ...one, kept: true }, LINES, SECOND)).toEqual({ not: [one.mark, "two"], instead: ["one"] });
    expect(without(one, LINES, SECOND)).toEqual({ not: [one.mark, "two"], instead: [] });
  });

  it("let go back what is not kept, exactly as it was shown", () => {
    expect(goingOf(one, undefined, NOTHING_SAID)).toEqual({ file: one, mark: one.mark, hunks: [] });
    expect(goingOf(one, { ...LINES, mark: "shown" }, NOTHING_SAID)?.mark).toBe("shown");
    const kept = { ...LINES, hunks: [{ ...FIRST, kept: true }, SECOND] };
    expect(goingOf(one, kept, NOTHING_SAID)?.hunks).toEqual([SECOND]);
    expect(goingOf(one, LINES, new Map([[one.mark, true]]))).toBeUndefined();
    expect(goingOf({ ...one, by_others: true }, LINES, NOTHING_SAID)).toBeUndefined();
  });
});

describe("remarks", () => {
  const at = (id: string, path: string, line: number, side: "before" | "after" = "after"): Remark => {
    return { id, path, side, line, quoted: `line ${line}`, text: `about ${line}` };
  };

  it("are one message with file, line and what stands there", () => {
    const remarks = [at("1", "b.rs", 9), at("2", "a.rs", 4, "before"), at("3", "a.rs", 2)].reduce(
      withRemark,
      [] as Remark[],
    );
    expect(messageOf(remarks, en.review.remark)).toBe(
      "About the changes:\n\n`a.rs:2`:\n> line 2\n\nabout 2\n\n`a.rs:4`, as it was before:\n> line 4\n\nabout 4\n\n`b.rs:9`:\n> line 9\n\nabout 9",
    );
  });

  it("name lines that stand together, and quote them in short", () => {
    const cells = numbered(FIRST);
    const all = placeOf("a.rs", cells);
    expect(all).toEqual({ path: "a.rs", side: "after", line: 6, to: 9 });
    expect(placeOf("a.rs", cells.slice(0, 2))).toEqual({ path: "a.rs", side: "before", line: 6, to: 7 });
    expect(placeOf("a.rs", cells.slice(2, 3))).toEqual({ path: "a.rs", side: "after", line: 7 });
    const lines = ["  if a {", "    b", "", "  }", "  c", "  d"].map((text) => came(text));
    const long = numbered(hunk("long", 1, 12, ...lines));
    const place = placeOf("a.rs", long) ?? { path: "", side: "after" as const, line: 0 };
    expect(quoteOf(place, long)).toBe("if a {\n  b\n\n…\nd");
    expect(messageOf([{ ...place, id: "1", quoted: "b\n\nd", text: "why" }], en.review.remark)).toBe(
      "About the changes:\n\n`a.rs:12-17`:\n> b\n>\n> d\n\nwhy",
    );
  });

  it("survive being kept, and what is damaged is none", () => {
    const remarks = [at("1", "a", 1)];
    expect(remarksIn(keptOf(remarks))).toEqual(remarks);
    expect(keptOf([])).toBeNull();
    for (const bad of [null, "", "{", "3"]) expect(remarksIn(bad)).toEqual([]);
    expect(withRemark(remarks, { ...at("1", "a", 1), text: "other" })).toHaveLength(1);
  });
});

describe("what is known of a session", () => {
  const event = (seq: number, body: object) =>
    ({ seq, ts: "2026-01-01T00:00:00.000Z", session_id: "s", agent_id: "a", ...body }) as unknown as Event;

  it("has each state of the files once, where it was kept last", () => {
    const kept = (seq: number, rev: string) =>
      event(seq, { type: "checkpoint", rev, when: "before", label: rev, changed: [{}], more: 2 });
    const view = fold(emptyView(), [kept(1, "one"), kept(2, "two"), kept(3, "one")]);
    expect(view.checkpoints.map(({ rev, changed }) => [rev, changed])).toEqual([
      ["two", 3],
      ["one", 3],
    ]);
    expect(view.revs.changes).toBe(3);
  });

  it("says which of how many a call is, where they were made together", () => {
    const call = (id: string) => ({ kind: "tool_call", id, name: "bash", arguments: "{}" });
    const said = (seq: number, ...ids: string[]) =>
      event(seq, { type: "message", id: `m${seq}`, role: "assistant", parts: ids.map(call) });
    const { together } = fold(emptyView(), [said(1, "a", "b"), said(2, "c")]);
    expect([...together]).toEqual([
      ["a", [1, 2]],
      ["b", [2, 2]],
    ]);
  });

  it("says what a tool is for in its first paragraph", () => {
    expect(purposeOf("bash", "Runs a\ncommand.\n\nMore about it.")).toBe("bash: Runs a command.");
  });
});
