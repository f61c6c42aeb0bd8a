//! All changes as rows of one sheet, so that only those in view are drawn.

import type { Hunk } from "../proto";
import { type Cell, extent, numbered, type Pair, paired } from "./pairs";
import { endsAt, type Place, type Remark } from "./remarks";
import type { File, Known } from "./shown";
import { runAround } from "./spans";

/** Changed lines of a file over which it is folded until somebody wants it. */
export const LARGE = 600;

/** Lines that nobody changed, between changes. `from` is the first of them as the file is now. */
export type Unchanged = { from: number; count: number };

export type Row = { key: string; file: File } & (
  | { kind: "others" }
  | { kind: "file"; isFolded: boolean }
  | { kind: "note"; note: "binary" | "large" | "cut" | "same" | "comes" | "trouble" }
  | { kind: "unchanged"; gap: Unchanged }
  | { kind: "hunk"; hunk: Hunk }
  | { kind: "pair"; hunk: Hunk; pair: Pair }
  | { kind: "line"; hunk: Hunk; cell: Cell }
  | { kind: "remark"; remark: Remark }
  | { kind: "write"; place: Place; cells: readonly Cell[] }
);

export type Sheet = {
  files: readonly File[];
  /** The lines of files, as far as they are known. */
  lines: (path: string) => Known;
  isFolded: (file: File) => boolean;
  /** Lines that were unfolded: what stands there, by the key of their row. */
  unfolded: ReadonlyMap<string, readonly string[]>;
  isBeside: boolean;
  remarks: readonly Remark[];
  /** Where something is being written. */
  writing: Place | undefined;
};

/** The height of a line. */
const LINE = 20;

export const hunkKey = (path: string, id: string): string => `${path}\n@${id}`;

/** The row where something is being written of a file. */
export const writeKey = (path: string): string => `${path}\nwrite`;

/** What was unfolded belongs to a content: of another one it is read again. */
const gapKey = (mark: string, path: string, from: number, to: number): string => `${path}\n=${mark} ${from}-${to}`;

/** Whether a file is folded before somebody said otherwise. */
export const isLarge = ({ added, removed }: File): boolean => added + removed > LARGE;

export function sheetRows(sheet: Sheet): Row[] {
  const rows: Row[] = [];
  let others = false;
  for (const file of sheet.files) {
    if (file.by_others && !others) {
      others = true;
      rows.push({ kind: "others", key: "others", file });
    }
    fileRows(rows, file, sheet);
  }
  return rows;
}

/** Puts what was said of a row's lines below it. */
type Below = (...cells: (Cell | undefined)[]) => void;

function fileRows(rows: Row[], file: File, sheet: Sheet): void {
  const { path } = file;
  const isFolded = sheet.isFolded(file);
  rows.push({ kind: "file", key: path, file, isFolded });
  const note = (note: Extract<Row, { kind: "note" }>["note"]) =>
    rows.push({ kind: "note", key: `${path}\n${note}`, file, note });
  if (isFolded) {
    if (isLarge(file)) note("large");
    return;
  }
  if (file.binary) return void note("binary");
  const lines = sheet.lines(path);
  if (lines === undefined) return void note("comes");
  if (lines === "trouble") return void note("trouble");
  if (lines.binary) return void note("binary");
  if (lines.hunks.length === 0) return void note("same");
  // Remarks stand below their line, those on lines that are not shown above all.
  const remarks = sheet.remarks.filter((remark) => remark.path === path);
  const shown = new Set<string>();
  const below: Below = (...cells) => {
    const isHere = (place: Place) => cells.some((cell) => cell !== undefined && endsAt(place, cell));
    for (const remark of remarks) {
      if (shown.has(remark.id) || !isHere(remark)) continue;
      shown.add(remark.id);
      rows.push({ kind: "remark", key: `${path}\nremark ${remark.id}`, file, remark });
    }
    const { writing } = sheet;
    if (writing?.path === path && isHere(writing) && !shown.has("writing")) {
      shown.add("writing");
      rows.push({ kind: "write", key: writeKey(path), file, place: writing, cells: [] });
    }
  };
  const body = rows.length;
  let before = 1;
  let after = 1;
  const gapTo = (to: number) => {
    const shift = before - after;
    for (let from = after; from < to; ) {
      const key = gapKey(lines.mark, path, from, to);
      const found = sheet.unfolded.get(key);
      if (found === undefined || found.length === 0) {
        return void rows.push({ kind: "unchanged", key, file, gap: { from, count: to - from } });
      }
      const same = stretchOf(found, { before: from + shift, after: from, most: to - from });
      linesOf(rows, file, same, sheet.isBeside, below);
      from += same.lines.length;
    }
  };
  for (const hunk of lines.hunks) {
    // Of a side that is empty the number is that of the line before it.
    gapTo(hunk.after);
    rows.push({ kind: "hunk", key: hunkKey(path, hunk.id), file, hunk });
    linesOf(rows, file, hunk, sheet.isBeside, below);
    const spans = extent(hunk);
    before = hunk.before + spans.before;
    after = hunk.after + spans.after;
  }
  if (lines.cut === true) note("cut");
  else gapTo(lines.lines_after + 1);
  const left = remarks.filter(({ id }) => !shown.has(id));
  const strays = left.map((remark): Row => ({ kind: "remark", key: `${path}\nremark ${remark.id}`, file, remark }));
  rows.splice(body, 0, ...strays);
  if (shown.has("writing")) aroundWriting(rows);
}

/** What is written about may be about other lines near it. */
function aroundWriting(rows: Row[]): void {
  const at = rows.findIndex(({ kind }) => kind === "write");
  const row = rows[at];
  if (row?.kind === "write") rows[at] = { ...row, cells: runAround(rows, at) };
}

/** Lines that were unfolded stand in a change of their own, in which nothing is different. */
const stretches = new WeakMap<readonly string[], Hunk>();

function stretchOf(found: readonly string[], at: { before: number; after: number; most: number }): Hunk {
  const known = stretches.get(found);
  if (known?.before === at.before && known.after === at.after) return known;
  const lines = found.slice(0, at.most).map((text) => ({ kind: "same" as const, text }));
  const made: Hunk = { id: "", before: at.before, after: at.after, lines };
  stretches.set(found, made);
  return made;
}

function linesOf(rows: Row[], file: File, hunk: Hunk, isBeside: boolean, below: Below): void {
  const cells = numbered(hunk);
  if (isBeside) {
    for (const pair of paired(cells)) {
      rows.push({ kind: "pair", key: keyOf(file.path, pair.left, pair.right), file, hunk, pair });
      below(pair.left, pair.right);
    }
  } else {
    for (const cell of cells) {
      rows.push({ kind: "line", key: keyOf(file.path, cell, cell), file, hunk, cell });
      below(cell);
    }
  }
}

const keyOf = (path: string, left: Cell | undefined, right: Cell | undefined) =>
  `${path}\n${left?.before ?? ""}/${right?.after ?? ""}`;

/** How high a row most likely is, before it is measured; `columns` are the letters that a line has room for. What is
 * guessed right is not laid out twice. */
export function guess(row: Row | undefined, columns: number): number {
  const lines = (cell: Cell | undefined) => LINE * Math.max(1, Math.ceil((cell?.text.length ?? 0) / columns));
  switch (row?.kind) {
    case "pair":
      return Math.max(lines(row.pair.left), lines(row.pair.right));
    case "line":
      return lines(row.cell);
    case "file":
      return 38;
    case "note":
      // A change with the lines around it.
      return row.note === "comes" ? LINE * (row.file.added + row.file.removed + 6 * row.file.hunks) + 28 : 40;
    case "remark":
      return 110;
    case "write":
      return 150;
    default:
      return 28;
  }
}

export type At = { path: string; hunk: string | undefined };

/** All changes in their order, as far as files are known; a file whose lines are not known stands for itself. */
export function stops(files: readonly File[], lines: Sheet["lines"]): { path: string; hunk: string | undefined }[] {
  return files.flatMap(({ path }): At[] => {
    const known = lines(path);
    return known === undefined || known === "trouble" || known.hunks.length === 0
      ? [{ path, hunk: undefined }]
      : known.hunks.map(({ id }) => ({ path, hunk: id }));
  });
}

/** The change that is `by` steps from where one is. */
export function step(all: readonly At[], at: At | undefined, by: 1 | -1): At | undefined {
  if (at === undefined) return by === 1 ? all[0] : all.at(-1);
  const exact = all.findIndex(({ path, hunk }) => path === at.path && hunk === at.hunk);
  if (exact >= 0) return all[exact + by];
  // One stands at a file: its changes are next, or those before it.
  const first = all.findIndex(({ path }) => path === at.path);
  return by === 1 ? all[first] : all[first - 1];
}
