//! What is looked at, with what goes without saying on the wire filled in.

import type { ChangedFile, FileChanges, Hunk } from "../proto";

type Filled<T, K extends keyof T> = T & Required<Pick<T, K>>;

export type File = Filled<
  ChangedFile,
  "binary" | "added" | "removed" | "by_others" | "since" | "kept" | "hunks" | "hunks_kept" | "agents" | "messages"
>;

export type Lines = Filled<FileChanges, "binary" | "kept" | "lines_before" | "lines_after" | "hunks">;

export const fileOf = (file: ChangedFile): File => ({
  binary: false,
  added: 0,
  removed: 0,
  by_others: false,
  since: 0,
  kept: false,
  hunks: 0,
  hunks_kept: 0,
  agents: [],
  messages: [],
  ...file,
});

export const linesOf = (lines: FileChanges): Lines => ({
  binary: false,
  kept: false,
  lines_before: 0,
  lines_after: 0,
  hunks: [] as Hunk[],
  ...lines,
});

/** Lines that came with their file, that can't be had, or that are not there yet. */
export type Known = Lines | "trouble" | undefined;

export const known = (lines: Known): Lines | undefined => (lines === "trouble" ? undefined : lines);
