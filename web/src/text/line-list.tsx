//! A long text, line by line: only the rows that are near are mounted.

import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { useSelectedRows } from "../parts/selected-rows";
import { Coloured } from "./coloured";
import { type Parts, useColours } from "./colours";
import { rowAt, rowsOf } from "./lines";

const HEIGHT = 20;

/** How near its end somebody is who follows a text that grows, in pixels. */
const NEAR = 40;

type Given = {
  label: string;
  text: string;
  /** The language, or the path of the file that it is; what is coloured already has none. */
  language?: string | undefined;
  parts?: Parts | undefined;
  numbers?: boolean;
  /** Lines that came, by their numbers. */
  came?: ReadonlySet<number> | undefined;
  /** Where words were found, how long they are, and which of them is looked at. */
  found?: { places: readonly number[]; length: number; at: number };
  /** Whether the end is followed as long as it is in view. */
  follows?: boolean;
  /** Whether lines are folded at the width that there is. */
  wraps?: boolean;
  /** What stands below the last line. */
  children?: ReactNode;
};

export function LineList({ label, text, language, parts, numbers, came, found, follows, wraps, children }: Given) {
  const scroller = useRef<HTMLElement>(null);
  const rows = useMemo(() => rowsOf(text), [text]);
  const coloured = useColours(scroller, text, language) ?? parts;
  const mounted = useSelectedRows(scroller);
  const count = rows.lines.length;
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => HEIGHT,
    overscan: 20,
    paddingStart: 8,
    paddingEnd: 8,
    rangeExtractor: mounted,
  });

  const isAtEnd = useRef(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other text is followed
  useLayoutEffect(() => {
    const box = scroller.current;
    if (follows && isAtEnd.current && box !== null) box.scrollTop = box.scrollHeight;
  }, [follows, text]);

  const place = found?.places[found.at];
  useEffect(() => {
    if (place !== undefined) list.scrollToIndex(rowAt(rows, place), { align: "center" });
  }, [place, rows, list]);

  const names = ["text-lines out", numbers && "numbered", wraps && "wraps"].filter(Boolean).join(" ");
  const gutter = numbers ? String(count).length + 2 : 1;
  return (
    <section
      ref={scroller}
      className={names}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
      }}
    >
      <div
        className="rows"
        style={{ height: list.getTotalSize(), ...(!wraps && { minWidth: `${rows.widest + gutter + 4}ch` }) }}
      >
        {list.getVirtualItems().map(({ index, start }) => {
          const from = rows.starts[index] ?? 0;
          const line = rows.lines[index] ?? 0;
          const next = rows.starts[index + 1] ?? 0;
          // The end of a line is no part of it, wherever it was written.
          let to = rows.lines[index + 1] === 0 ? next : next - 1;
          if (to > from && text[to - 1] === "\r") to -= 1;
          return (
            <div
              key={index}
              ref={wraps ? list.measureElement : undefined}
              data-index={index}
              className={line > 0 && came?.has(line) ? "row-line came" : "row-line"}
              style={{ transform: `translateY(${start}px)` }}
            >
              {numbers && <i style={{ width: `${gutter}ch` }}>{line > 0 ? line : ""}</i>}
              <span>
                <Found text={text} parts={coloured} from={from} to={to} found={found} />
              </span>
            </div>
          );
        })}
      </div>
      {children}
    </section>
  );
}

type FoundGiven = { text: string; parts: Parts | undefined; from: number; to: number; found: Given["found"] };

/** A stretch with the places in it marked where words were found. */
const Found = memo(({ text, parts, from, to, found }: FoundGiven) => {
  const pieces: ReactNode[] = [];
  let at = from;
  if (found !== undefined && found.length > 0) {
    for (let number = firstFrom(found.places, from - found.length + 1); number < found.places.length; number++) {
      const begin = Math.max(found.places[number] ?? 0, at);
      const end = Math.min((found.places[number] ?? 0) + found.length, to);
      if (begin >= to) break;
      pieces.push(
        <Coloured key={at} text={text} parts={parts} from={at} to={begin} />,
        <mark key={`found ${begin}`} className={number === found.at ? "found now" : "found"}>
          <Coloured text={text} parts={parts} from={begin} to={end} />
        </mark>,
      );
      at = end;
    }
  }
  pieces.push(<Coloured key={at} text={text} parts={parts} from={at} to={to} />);
  return pieces;
});

/** Which of these places is the first from one on. */
function firstFrom(places: readonly number[], from: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) >= from) high = middle;
    else low = middle + 1;
  }
  return low;
}
