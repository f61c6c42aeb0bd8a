//! The lines of a change beside each other: what came stands right of what it stands for.

import type { Hunk, HunkLine } from "../proto";

/** A line with its numbers. */
export type Cell = HunkLine & { before?: number; after?: number };

/** What stands in one row; a side may have nothing. */
export type Pair = { left?: Cell; right?: Cell };

/** The lines of a change with their numbers. */
export function numbered({ before, after, lines }: Hunk): Cell[] {
  let old = before;
  let now = after;
  return lines.map((line) => {
    switch (line.kind) {
      case "removed":
        return { ...line, before: old++ };
      case "added":
        return { ...line, after: now++ };
      default:
        return { ...line, before: old++, after: now++ };
    }
  });
}

export function paired(cells: readonly Cell[]): Pair[] {
  const rows: Pair[] = [];
  let gone: Cell[] = [];
  let came: Cell[] = [];
  const flush = () => {
    rows.push(...beside(gone, came));
    gone = [];
    came = [];
  };
  for (const cell of cells) {
    if (cell.kind === "same" || cell.kind === "other") {
      flush();
      rows.push({ left: cell, right: cell });
    } else if (cell.kind === "removed") {
      // What goes after something came is another change.
      if (came.length > 0) flush();
      gone.push(cell);
    } else {
      came.push(cell);
    }
  }
  flush();
  return rows;
}

/** Lines of which words are marked stand for each other in their order; the others stand between them. */
function beside(gone: readonly Cell[], came: readonly Cell[]): Pair[] {
  const old = marked(gone);
  const now = marked(came);
  if (old.length !== now.length) return zipped(gone, came);
  const rows: Pair[] = [];
  let left = 0;
  let right = 0;
  old.forEach((at, index) => {
    const to = now[index] ?? right;
    rows.push(...zipped(gone.slice(left, at), came.slice(right, to)));
    rows.push(...zipped(gone.slice(at, at + 1), came.slice(to, to + 1)));
    left = at + 1;
    right = to + 1;
  });
  return [...rows, ...zipped(gone.slice(left), came.slice(right))];
}

const marked = (cells: readonly Cell[]) =>
  cells.flatMap(({ marks }, at) => (marks === undefined || marks.length === 0 ? [] : [at]));

function zipped(gone: readonly Cell[], came: readonly Cell[]): Pair[] {
  return Array.from({ length: Math.max(gone.length, came.length) }, (_, at) => {
    const [left, right] = [gone[at], came[at]];
    return { ...(left && { left }), ...(right && { right }) };
  });
}

/** How many lines of both sides a change spans. */
export function extent({ lines }: Hunk): { before: number; after: number } {
  const added = lines.filter(({ kind }) => kind === "added").length;
  const removed = lines.filter(({ kind }) => kind === "removed").length;
  return { before: lines.length - added, after: lines.length - removed };
}
