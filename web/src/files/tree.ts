//! The names of a project as a tree: what is in which folder, and the rows of those that are unfolded.

export type Entry = { name: string; path: string; isFolder: boolean };

/** What is in each folder, folders first; the project itself is the one without a name. */
export type Tree = ReadonlyMap<string, readonly Entry[]>;

const order = new Intl.Collator("en", { numeric: true });

/** Names of files and folders, those of folders with a slash at the end. A folder that is not named itself is there, too. */
export function treeOf(names: readonly string[]): Tree {
  const tree = new Map<string, Entry[]>([["", []]]);
  const folder = (path: string): Entry[] => {
    const known = tree.get(path);
    if (known !== undefined) return known;
    const made: Entry[] = [];
    tree.set(path, made);
    folder(above(path)).push({ name: lastOf(path), path, isFolder: true });
    return made;
  };
  for (const name of names) {
    if (name.endsWith("/")) folder(name.slice(0, -1));
    else folder(above(name)).push({ name: lastOf(name), path: name, isFolder: false });
  }
  for (const entries of tree.values()) {
    entries.sort((one, other) => Number(other.isFolder) - Number(one.isFolder) || order.compare(one.name, other.name));
  }
  return tree;
}

export const above = (path: string) => path.slice(0, Math.max(path.lastIndexOf("/"), 0));

const lastOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The folders that a path is in, the outermost first. */
export function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
  return folders;
}

export type Row = Entry & { depth: number; isOpen: boolean };

/** The rows that are seen. With words it is every file whose path has them all, by its whole path. */
export function rowsOf(tree: Tree, open: ReadonlySet<string>, words: string): Row[] {
  const rows: Row[] = [];
  const sought = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (sought.length > 0) {
    for (const entries of tree.values()) {
      for (const entry of entries) {
        const path = entry.path.toLowerCase();
        if (!entry.isFolder && sought.every((word) => path.includes(word))) {
          rows.push({ ...entry, name: entry.path, depth: 0, isOpen: false });
        }
      }
    }
    return rows.sort((one, other) => one.path.length - other.path.length || order.compare(one.path, other.path));
  }
  const walk = (folder: string, depth: number) => {
    for (const entry of tree.get(folder) ?? []) {
      const isOpen = entry.isFolder && open.has(entry.path);
      rows.push({ ...entry, depth, isOpen });
      if (isOpen) walk(entry.path, depth + 1);
    }
  };
  walk("", 0);
  return rows;
}
