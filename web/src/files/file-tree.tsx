//! The tree of files: unfolded bit by bit, only the rows that are near mounted, and gone through by keys.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { Icon, useStored } from "../parts";
import { signs } from "../text";
import { useWords } from "../words";
import { above, foldersOf, type Row, rowsOf, treeOf } from "./tree";

export type Change = { added: number; removed: number };

type Given = {
  folder: string;
  names: readonly string[];
  changes: ReadonlyMap<string, Change>;
  chosen: string;
  onChoose: (path: string) => void;
};

export function FileTree({ folder, names, changes, chosen, onChoose }: Given) {
  const words = useWords();
  const [sought, setSought] = useState("");
  const [kept, keep] = useStored(`open.${folder}`);
  const open = useMemo(() => new Set((kept ?? "").split("\n").filter(Boolean)), [kept]);
  const tree = useMemo(() => treeOf(names), [names]);
  const rows = useMemo(() => rowsOf(tree, open, sought), [tree, open, sought]);
  const [at, setAt] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (matchMedia("(pointer: coarse), (max-width: 640px)").matches ? 44 : 28),
    overscan: 12,
  });

  const unfold = (path: string, isOpen: boolean) => {
    const others = [...open].filter((one) => one !== path);
    keep((isOpen ? [...others, path] : others).join("\n"));
  };
  // What is looked at is seen in the tree.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another file is looked at
  useEffect(() => {
    const hidden = foldersOf(chosen).filter((path) => !open.has(path));
    if (hidden.length > 0) keep([...open, ...hidden].join("\n"));
  }, [chosen]);
  const place = rows.findIndex(({ path }) => path === chosen);
  useEffect(() => {
    if (place < 0) return;
    setAt(place);
    list.scrollToIndex(place, { align: "auto" });
  }, [place, list]);

  const choose = (row: Row | undefined) => {
    if (row === undefined) return;
    if (row.isFolder) unfold(row.path, !row.isOpen);
    else onChoose(row.path);
  };
  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    list.scrollToIndex(next, { align: "auto" });
  };
  const press = (event: KeyboardEvent) => {
    const row = rows[at];
    if (event.key === "ArrowDown") move(at + 1);
    else if (event.key === "ArrowUp") move(at - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(rows.length - 1);
    else if (event.key === "Enter" || event.key === " ") choose(row);
    else if (event.key === "ArrowRight" && row?.isFolder) row.isOpen ? move(at + 1) : unfold(row.path, true);
    else if (event.key === "ArrowLeft" && row?.isOpen) unfold(row.path, false);
    else if (event.key === "ArrowLeft" && row !== undefined) {
      const outer = rows.findIndex(({ path }) => path === above(row.path));
      if (outer >= 0) move(outer);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <nav className="picker files" aria-label={words.filesRoom.tree}>
      <label className="field">
        <Icon name="find" small />
        <input
          type="search"
          aria-label={words.filesRoom.filter}
          placeholder={words.filesRoom.filter}
          spellCheck={false}
          value={sought}
          onChange={(event) => setSought(event.target.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Enter") choose(rows[0]);
            if (event.key === "Escape") {
              setSought("");
              event.stopPropagation();
            }
          }}
        />
      </label>
      {rows.length === 0 && (
        <p className="dim pad">{names.length === 0 ? words.filesRoom.noFiles : words.filesRoom.noneFits}</p>
      )}
      <div
        ref={scroller}
        className="tree"
        role="tree"
        aria-label={words.filesRoom.tree}
        aria-activedescendant={rows[at] === undefined ? undefined : `file-${at}`}
        tabIndex={0}
        onKeyDown={press}
      >
        <div className="rows" role="presentation" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const change = changes.get(row.path);
            return (
              // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names the row
              // biome-ignore lint/a11y/useKeyWithClickEvents: the same
              <div
                key={row.path}
                id={`file-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-expanded={row.isFolder ? row.isOpen : undefined}
                aria-selected={row.path === chosen}
                className={`row${index === at ? " at" : ""}${change === undefined ? "" : " changed"}`}
                title={row.path}
                style={{ transform: `translateY(${start}px)`, paddingLeft: 8 + 14 * row.depth }}
                onClick={() => {
                  setAt(index);
                  choose(row);
                }}
              >
                <Icon name={row.isFolder ? (row.isOpen ? "down" : "right") : "file"} small />
                <span className="cut">{signs(row.name)}</span>
                {change !== undefined && (
                  <span className="when">
                    {row.isFolder ? (
                      <span title={words.filesRoom.changed}>•</span>
                    ) : (
                      <>
                        {change.added > 0 && <span className="plus">{change.added}</span>}
                        {change.removed > 0 && <span className="minus">{change.removed}</span>}
                        {change.added + change.removed === 0 && <span title={words.filesRoom.changed}>•</span>}
                      </>
                    )}
                  </span>
                )}
              </div>
            );
          })}
        </div>
      </div>
    </nav>
  );
}
