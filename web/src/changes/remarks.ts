//! What is said of lines: kept with the drafts of the session until it goes back as one message.

import type { Cell } from "./pairs";

/** A line, by its file, its number, and the side of the change that the number is of. */
export type Place = { path: string; side: "before" | "after"; line: number };

export type Remark = Place & { id: string; quoted: string; text: string };

/** The place of a line; nothing where the row has no line on that side. */
export function placeOf(path: string, { before, after, kind }: Cell): Place | undefined {
  if (kind === "removed") return before === undefined ? undefined : { path, side: "before", line: before };
  return after === undefined ? undefined : { path, side: "after", line: after };
}

export const samePlace = (a: Place, b: Place): boolean => a.path === b.path && a.side === b.side && a.line === b.line;

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

type MessageWords = { about: string; line: (line: number) => string; lineBefore: (line: number) => string };

/** All remarks as one message: where each stands, what stands there, and what is said of it. */
export function messageOf(remarks: readonly Remark[], words: MessageWords): string {
  const parts = remarks.map(({ path, side, line, quoted, text }) => {
    const place = side === "before" ? words.lineBefore(line) : words.line(line);
    return `\`${path}\`, ${place}:\n> ${quoted.trim()}\n\n${text.trim()}`;
  });
  return [words.about, ...parts].join("\n\n");
}
