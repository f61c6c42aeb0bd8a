//! What is said of lines: kept with the drafts of the session until it goes back as one message.

import type { Cell } from "./pairs";

/** Lines, by their file, their numbers, and the side of the change that the numbers are of. */
export type Place = {
  path: string;
  side: "before" | "after";
  line: number;
  /** The last of several. */
  to?: number;
};

export type Remark = Place & { id: string; quoted: string; text: string };

export const lastOf = ({ line, to }: Place): number => to ?? line;

const numberOn = ({ before, after }: Cell, side: Place["side"]) => (side === "before" ? before : after);

/** The place of lines that stand below each other: what was removed is named as it was before. */
export function placeOf(path: string, cells: readonly Cell[]): Place | undefined {
  const side = sideOf(cells);
  const numbers = cells.flatMap((cell) => numberOn(cell, side) ?? []);
  const [line, to] = [numbers[0], numbers.at(-1)];
  if (line === undefined || to === undefined) return undefined;
  return { path, side, line, ...(to !== line && { to }) };
}

function sideOf(cells: readonly Cell[]): Place["side"] {
  const has = (kind: Cell["kind"]) => cells.some((cell) => cell.kind === kind);
  return has("removed") && !has("added") ? "before" : "after";
}

/** Whether a line is one of those at a place. */
export function covers(place: Place, cell: Cell): boolean {
  const number = numberOn(cell, place.side);
  return number !== undefined && number >= place.line && number <= lastOf(place);
}

/** Whether a place ends with a line. */
export const endsAt = (place: Place, cell: Cell): boolean => numberOn(cell, place.side) === lastOf(place);

/** Lines that are quoted whole; of more the first and the last. */
const QUOTED = 5;

/** Letters that are quoted of a line. */
const LONGEST = 200;

/** What stands at a place, in short. */
export function quoteOf(place: Place, cells: readonly Cell[]): string {
  const lines = cells.filter((cell) => covers(place, cell)).map(({ text }) => text.trimEnd());
  while (lines.length > 1 && lines[0] === "") lines.shift();
  const short = lines.length > QUOTED ? [...lines.slice(0, QUOTED - 2), "…", ...lines.slice(-1)] : lines;
  const depth = Math.min(...lines.filter(Boolean).map((line) => line.length - line.trimStart().length));
  return short
    .map((line) => (line === "…" ? line : line.slice(depth)))
    .map((line) => (line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line))
    .join("\n");
}

export function remarksIn(kept: string | null): Remark[] {
  try {
    const found: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(found) ? (found as Remark[]) : [];
  } catch {
    return [];
  }
}

/** What is kept of remarks; nothing where there are none. */
export const keptOf = (remarks: readonly Remark[]): string | null =>
  remarks.length === 0 ? null : JSON.stringify(remarks);

/** The remarks with one more, or with another text of one; in the order of the files and lines. */
export function withRemark(remarks: readonly Remark[], remark: Remark): Remark[] {
  return [...remarks.filter(({ id }) => id !== remark.id), remark].toSorted(
    (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line,
  );
}

type MessageWords = { about: string; place: (name: string) => string; placeBefore: (name: string) => string };

/** All remarks as one message: where each stands, what stands there, and what is said of it. */
export function messageOf(remarks: readonly Remark[], words: MessageWords): string {
  const parts = remarks.map((remark) => {
    const place = remark.side === "before" ? words.placeBefore(nameOf(remark)) : words.place(nameOf(remark));
    const quoted = remark.quoted.split("\n").map((line) => `> ${line}`.trimEnd());
    return `${place}\n${quoted.join("\n")}\n\n${remark.text.trim()}`;
  });
  return [words.about, ...parts].join("\n\n");
}

/** A place as programs name it, such as `src/a.rs:12-18`. */
const nameOf = ({ path, line, to }: Place): string => (to === undefined ? `${path}:${line}` : `${path}:${line}-${to}`);
