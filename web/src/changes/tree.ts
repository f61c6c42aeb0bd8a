//! Files below their folders, in the order in which they are shown everywhere.

import type { File } from "./shown";

export type TreeRow =
  | { kind: "folder"; key: string; name: string }
  | { kind: "others"; key: string }
  | { kind: "file"; key: string; name: string; file: File };

const folderOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf("/"), 0));

export const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** What the session changed comes first, then what others did; folders in their order, their files in theirs. */
export function inOrder(files: readonly File[]): File[] {
  return files.toSorted(
    (a, b) =>
      Number(a.by_others) - Number(b.by_others) ||
      compare(folderOf(a.path), folderOf(b.path)) ||
      compare(a.path, b.path),
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** `files` are in order. */
export function treeOf(files: readonly File[]): TreeRow[] {
  const rows: TreeRow[] = [];
  let folder = "";
  let others = false;
  for (const file of files) {
    if (file.by_others && !others) {
      others = true;
      rows.push({ kind: "others", key: "others" });
    }
    const below = folderOf(file.path);
    // What others changed is seldom much: its folders stand with the names.
    if (!file.by_others && below !== folder) {
      folder = below;
      rows.push({ kind: "folder", key: `${below}/`, name: below });
    }
    const name = file.by_others ? file.path : nameIn(file.path);
    rows.push({ kind: "file", key: file.path, name, file });
  }
  return rows;
}
