//! Long texts: rows that are as high as each other, and what a program coloured itself.

import { describe, expect, it } from "vitest";
import { placesOf, rowAt, rowsOf } from "../src/text/lines";
import { sgr } from "../src/text/sgr";

describe("rows of a text", () => {
  it("are its lines, and long ones go on without a number", () => {
    const text = `one\n${"x".repeat(2_500)}\n\nend\n`;
    const rows = rowsOf(text);
    expect(rows.lines).toEqual([1, 2, 0, 0, 3, 4]);
    expect(rows.widest).toBe(1_000);
    expect([0, 3, 4, 1_003, 1_004, 2_505, 2_506, text.length].map((at) => rowAt(rows, at))).toEqual([
      0, 0, 1, 1, 2, 4, 5, 5,
    ]);
  });

  it("cut no character in two, and an empty text has one", () => {
    const rows = rowsOf("😀".repeat(1_001));
    expect(rows.starts.map((at) => at % 2)).toEqual([0, 0, 0, 1]);
    expect(rowsOf("").lines).toEqual([1]);
    // The end of the last line is no part of it, whether or not it is written.
    expect([rowsOf("a\nbc\n").starts, rowsOf("a\nbc").starts]).toEqual([
      [0, 2, 5],
      [0, 2, 5],
    ]);
    expect(rowsOf(`${"a".repeat(999)}😀b`).starts).toEqual([0, 999, 1003]);
  });

  it("are found by words in letters of any size, where they stand", () => {
    expect(placesOf("Backoff, backoff. BACKOFF", "backoff")).toEqual([0, 9, 18]);
    expect(placesOf("İstanbul ISTANBUL", "istanbul")).toEqual([9]);
    expect(placesOf("abc", "")).toEqual([]);
  });
});

describe("colours of a terminal", () => {
  const told = (printed: string) => {
    const { text, parts } = sgr(printed);
    const pieces: string[] = [];
    for (let at = 0; at < parts.at.length; at += 3) {
      pieces.push(`${parts.names[parts.at[at + 2] ?? 0]}: ${text.slice(parts.at[at], parts.at[at + 1])}`);
    }
    return [text, ...pieces];
  };

  it("hold from their code to the next", () => {
    expect(told("a \x1b[1;31mred\x1b[22m still\x1b[0m plain \x1b[92mgreen\x1b[39m.")).toEqual([
      "a red still plain green.",
      "ink-red ink-bold: red",
      "ink-red:  still",
      "ink-green: green",
    ]);
  });

  it("come near to those of richer terminals, and grounds change nothing", () => {
    expect(told("\x1b[38;5;196mr\x1b[38;2;10;200;30mg\x1b[48;5;21mg\x1b[38:5:4mb\x1b[m.")).toEqual([
      "rggb.",
      "ink-red: r",
      "ink-green: g",
      "ink-green: g",
      "ink-blue: b",
    ]);
  });

  it("are all that is left of what steers a terminal", () => {
    expect(
      told("\x1b]0;title\x07a\x1b[2J\x1b[10;10Hb\x08\x1b]8;;https://x.example\x1b\\c\x1b]8;;\x1b\\\x1b[31"),
    ).toEqual(["abc31"]);
  });
});
