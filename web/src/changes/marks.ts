//! What was reviewed: changes and files that somebody said to keep. A mark belongs to a content, so that what changes
//! afterwards is to be looked at again.

import type { Hunk } from "../proto";
import type { File, Lines } from "./shown";

/** What was said here of marks and is not known to be taken yet. */
export type Said = ReadonlyMap<string, boolean>;

export const NOTHING_SAID: Said = new Map();

export const isKept = ({ id, kept }: Hunk, said: Said): boolean => said.get(id) ?? kept ?? false;

/** Whether all of a file is kept: it itself, or each of its changes. */
export function isFileKept(file: File, lines: Lines | undefined, said: Said): boolean {
  const own = said.get(file.mark) ?? file.kept;
  if (own) return true;
  if (lines === undefined || lines.mark !== file.mark) return file.hunks > 0 && file.hunks_kept >= file.hunks;
  return lines.hunks.length > 0 && lines.hunks.every((hunk) => isKept(hunk, said));
}

/** The lines of a file with what is kept by now; the same where nothing is another. */
export function withKept(lines: Lines, kept: ReadonlySet<string>): Lines {
  const whole = kept.has(lines.mark);
  const is = ({ id }: Hunk) => whole || kept.has(id);
  if (lines.kept === whole && lines.hunks.every((hunk) => (hunk.kept ?? false) === is(hunk))) return lines;
  return { ...lines, kept: whole, hunks: lines.hunks.map((hunk) => ({ ...hunk, kept: is(hunk) })) };
}

/** The marks that stand for all of a file. */
export const marksOf = (file: File, lines: Lines | undefined): string[] => [
  file.mark,
  ...(lines?.hunks.map(({ id }) => id) ?? []),
];

/** What is said so that one change is not kept any more: its file as a whole is not, and the others stay. */
export function without(file: File, lines: Lines, hunk: Hunk): { not: string[]; instead: string[] } {
  const others = lines.hunks.filter(({ id }) => id !== hunk.id).map(({ id }) => id);
  return { not: [file.mark, hunk.id], instead: file.kept ? others : [] };
}

/** How many of the files that the session changed were reviewed. */
export function reviewed(files: readonly File[], isKept: (file: File) => boolean) {
  const own = files.filter(({ by_others }) => !by_others);
  return { all: own.length, kept: own.filter(isKept).length };
}

/** What goes back of a file: all of it, or some changes. */
export type Going = { file: File; mark: string; hunks: Hunk[] };

/** What goes back of a file when all does that is not kept; nothing where all is kept or others' alone. */
export function goingOf(file: File, lines: Lines | undefined, said: Said): Going | undefined {
  if (file.by_others || isFileKept(file, lines, said)) return undefined;
  const left = lines?.hunks.filter((hunk) => !isKept(hunk, said)) ?? [];
  const isPart = lines !== undefined && left.length < lines.hunks.length;
  return { file, mark: lines?.mark ?? file.mark, hunks: isPart ? left : [] };
}
