//! What can be done with what is shown, as its parts have it.

import type { Hunk } from "../proto";
import type { Cell } from "./pairs";
import type { Remark } from "./remarks";
import type { At, Unchanged } from "./rows";
import type { File } from "./shown";

export type Acts = {
  /** Why nothing can go back now, if that is so. */
  revertOff: string | undefined;
  /** Why nothing can be kept now, if that is so. */
  keepOff: string | undefined;
  isHunkKept: (file: File, hunk: Hunk) => boolean;
  isKept: (file: File) => boolean;
  choose: (at: At) => void;
  toggle: (file: File) => void;
  /** Shows lines that nobody changed; absent where they can't be had. */
  unfold: ((key: string, file: File, gap: Unchanged) => void) | undefined;
  keepHunk: (file: File, hunk: Hunk) => void;
  keepFile: (file: File) => void;
  revertHunk: (file: File, hunk: Hunk) => void;
  revertFile: (file: File) => void;
  /** Writes about lines, or about the last one of a change that is different. */
  commentHunk: (file: File, hunk: Hunk) => void;
  comment: (file: File, cells: readonly Cell[]) => void;
  again: () => void;
  /** What is being written is about other lines. */
  placeRemark: (file: File, cells: readonly Cell[]) => void;
  saveRemark: (text: string) => void;
  closeRemark: () => void;
  changeRemark: (remark: Remark) => void;
  dropRemark: (remark: Remark) => void;
  nextRemark: (remark: Remark) => void;
};
