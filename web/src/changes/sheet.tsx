//! The sheet with all changes: only the rows in view are drawn, and the lines of files in view are asked for.

import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { useWidth } from "../parts";
import { useWords } from "../words";
import type { Acts } from "./acts";
import type { Place } from "./remarks";
import { type At, guess, type Row } from "./rows";
import { SheetRow } from "./sheet-row";
import type { Known } from "./shown";
import { pickedOf } from "./spans";
import { turns } from "./turns";
import { useDrag } from "./use-drag";
import type { Chosen } from "./use-span";

/** Where somebody wants to be: the row of this key, asked for once more with every number. */
export type Goal = { key: string; time: number };

type Given = {
  rows: readonly Row[];
  lines: (path: string) => Known;
  at: At | undefined;
  /** Whether lines stand beside each other. */
  isBeside: boolean;
  /** What was written of the line that is written about. */
  given: string;
  goal: Goal | undefined;
  acts: Acts;
  /** The lines that are chosen. */
  chosen: Chosen;
  onSeen: (paths: readonly string[]) => void;
  /** The reader came to a file by themselves. */
  onTop: (path: string) => void;
};

/** The head of a file, which stays above its changes. */
const HEAD = 38;

/** Keys by which one goes through the sheet, or does something in it. */
const BY_HAND = /^(?:Arrow.*|Page.*|Home|End|Tab|Enter| )$/;

/** How wide a letter of a line is. */
const LETTER = 7.2;

export function Sheet({ rows, lines, at, isBeside, given, goal, acts, chosen, onSeen, onTop }: Given) {
  const words = useWords().review;
  const scroller = useRef<HTMLElement>(null);
  const isByHand = useRef(false);
  const width = useWidth(scroller) ?? 0;
  const columns = Math.max(20, Math.floor((isBeside ? width / 2 - 68 : width - 112) / LETTER));
  const heads = useMemo(() => rows.flatMap((row, at) => (row.kind === "file" ? [at] : [])), [rows]);
  const places = useMemo(() => new Map(rows.map(({ key }, at) => [key, at])), [rows]);
  const written = useMemo(() => {
    const at = rows.findIndex(({ kind }) => kind === "write");
    return at < 0 ? undefined : at;
  }, [rows]);
  const head = useRef<number>(undefined);
  const place = goal === undefined ? undefined : places.get(goal.key);
  const isFile = place !== undefined && rows[place]?.kind === "file";
  const drag = useDrag(rows, chosen);
  const picked = chosen.place ?? placeWritten(rows, written);

  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => guess(rows[at], columns),
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 16,
    scrollPaddingStart: isFile ? 0 : HEAD,
    // What is in view stays where it is when lines above it come.
    anchorTo: "end",
    scrollEndThreshold: -1,
    rangeExtractor: (range) => {
      head.current = heads[lastUpTo(heads, range.startIndex)];
      // What stays above the others, and what is being written, are never taken away.
      const kept = [head.current, written].filter((at) => at !== undefined);
      return [...new Set([...kept, ...defaultRangeExtractor(range)])].sort((a, b) => a - b);
    },
  });
  const items = list.getVirtualItems();

  const coming = items.flatMap(({ index }) => {
    const row = rows[index];
    return row?.kind === "note" && row.note === "comes" ? [row.file.path] : [];
  });
  const wanted = coming.join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the paths say whether they are others
  useEffect(() => {
    if (coming.length > 0) onSeen(coming);
  }, [wanted, onSeen]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: every other goal leads somewhere
  useEffect(() => {
    isByHand.current = false;
  }, [goal]);
  // Lines that come move it: it is gone to until somebody goes elsewhere by themselves.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same
  useEffect(() => {
    if (place !== undefined && !isByHand.current) list.scrollToIndex(place, { align: isFile ? "start" : "auto" });
  }, [goal, place, rows, isFile, list]);

  // Whoever wrote goes on where they were.
  const wrote = useRef(false);
  useEffect(() => {
    if (wrote.current && written === undefined && document.activeElement === document.body) {
      scroller.current?.focus({ preventScroll: true });
    }
    wrote.current = written !== undefined;
  }, [written]);

  const top = rows[list.range?.startIndex ?? 0]?.file.path;
  useEffect(() => {
    if (top !== undefined && isByHand.current) onTop(top);
  }, [top, onTop]);

  const byHand = () => {
    isByHand.current = true;
  };
  return (
    <section
      ref={scroller}
      className={isBeside ? "sheet beside" : "sheet"}
      aria-label={words.sheet}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
      tabIndex={0}
      onScroll={({ currentTarget, timeStamp }) => turns.moved(currentTarget.scrollTop, timeStamp)}
      onWheel={byHand}
      onTouchMove={byHand}
      onPointerDown={byHand}
      onKeyDown={(event) => {
        if (BY_HAND.test(event.key)) byHand();
        if (event.key !== "Escape" || chosen.span === undefined) return;
        event.preventDefault();
        chosen.choose(undefined);
      }}
      {...drag}
    >
      <div className="rows" style={{ height: list.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const isHead = index === head.current;
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              className={isHead ? "at stays" : "at"}
              style={isHead ? undefined : { transform: `translateY(${start}px)` }}
            >
              <SheetRow
                row={row}
                lines={lines(row.file.path)}
                isChosen={row.kind === "hunk" && at?.path === row.file.path && at.hunk === row.hunk.id}
                picked={pickedOf(row, picked)}
                given={given}
                acts={acts}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** The lines that are written about. */
function placeWritten(rows: readonly Row[], written: number | undefined): Place | undefined {
  const row = written === undefined ? undefined : rows[written];
  return row?.kind === "write" ? row.place : undefined;
}

/** The place of the last number that is not over `most`. */
function lastUpTo(numbers: readonly number[], most: number): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) <= most) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
