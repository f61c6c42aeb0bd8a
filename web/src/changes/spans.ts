//! Several lines of a change, as they are chosen: from one row of the sheet to another, on one of its sides.

import type { Cell } from "./pairs";
import { covers, type Place } from "./remarks";
import type { At, Row } from "./rows";

/** Rows from one to another, by their keys; the side is that of the numbers that were taken. */
export type Span = { from: string; to: string; isRight: boolean };

/** The line that a row has on a side. */
export function cellOf(row: Row | undefined, isRight: boolean): Cell | undefined {
  if (row?.kind === "line") return row.cell;
  return row?.kind === "pair" ? (isRight ? row.pair.right : row.pair.left) : undefined;
}

/** Whether lines above and below a row follow each other. */
const isThrough = ({ kind }: Row): boolean => kind !== "file" && kind !== "unchanged" && kind !== "others";

/** The lines from one row towards another, as far as they follow each other. */
export function cellsBetween(rows: readonly Row[], from: number, to: number, isRight: boolean): Cell[] {
  const by = to < from ? -1 : 1;
  const cells: Cell[] = [];
  for (let at = from; at !== to + by; at += by) {
    const row = rows[at];
    if (row === undefined || !isThrough(row)) break;
    const cell = cellOf(row, isRight);
    if (cell !== undefined) cells.push(cell);
  }
  return by === 1 ? cells : cells.reverse();
}

/** The row next to one that has a line on a side and follows it; the same row where there is none. */
export function nextLine(rows: readonly Row[], from: number, by: 1 | -1, isRight: boolean): number {
  for (let at = from + by; ; at += by) {
    const row = rows[at];
    if (row === undefined || !isThrough(row)) return from;
    if (cellOf(row, isRight) !== undefined) return at;
  }
}

/** The first line that is different of a change, or the last one; of the first change where none is chosen. */
export function changedLine(rows: readonly Row[], at: At | undefined, by: 1 | -1): Span | undefined {
  const head = rows.find(
    (row) =>
      row.kind === "hunk" &&
      (at === undefined || (row.file.path === at.path && (at.hunk === undefined || row.hunk.id === at.hunk))),
  );
  if (head?.kind !== "hunk") return undefined;
  const of = rows.filter((row) => (row.kind === "line" || row.kind === "pair") && row.hunk === head.hunk);
  for (const row of by === 1 ? of : of.reverse()) {
    for (const isRight of [true, false]) {
      if (isChanged(cellOf(row, isRight))) return { from: row.key, to: row.key, isRight };
    }
  }
  return undefined;
}

const isChanged = (cell: Cell | undefined) => cell?.kind === "added" || cell?.kind === "removed";

/** Lines above and below that something written can be about. */
const NEAR = 200;

/** The lines that follow each other around a row, in the order in which they stand. */
export function runAround(rows: readonly Row[], at: number): Cell[] {
  const cells = (by: 1 | -1) => {
    const found: Cell[] = [];
    for (let near = at + by; found.length < NEAR; near += by) {
      const row = rows[near];
      if (row === undefined || !isThrough(row)) break;
      const [left, right] = [cellOf(row, false), cellOf(row, true)];
      const both = left === right ? [left] : [left, right];
      for (const cell of by === 1 ? both : both.reverse()) if (cell !== undefined) found.push(cell);
    }
    return found;
  };
  return [...cells(-1).reverse(), ...cells(1)];
}

/** On which of its sides a row has lines that are chosen. */
export type Picked = "" | "left" | "right" | "both";

export function pickedOf(row: Row, place: Place | undefined): Picked {
  if (place === undefined || row.file.path !== place.path) return "";
  const has = (isRight: boolean) => {
    const cell = cellOf(row, isRight);
    return cell !== undefined && covers(place, cell);
  };
  const [left, right] = [has(false), has(true)];
  return left && right ? "both" : left ? "left" : right ? "right" : "";
}
