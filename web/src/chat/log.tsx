//! The conversation: rows that are mounted while they are near, and an end that is followed while nobody looks elsewhere.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import type { View } from "../fold";
import { Icon, useKeys, useSelectedRows } from "../parts";
import { useIsOpen, useSession, useSlices } from "../wire";
import { useWords, type Words } from "../words";
import { BlockRow } from "./block-row";
import { LooksRow } from "./looks-row";
import { type Row, rowsOf } from "./rows";
import { Skeleton } from "./skeleton";

/** How near the end somebody is who follows, in pixels. */
const NEAR = 80;

const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

export function Log() {
  const words = useWords();
  const session = useSession();
  const view = useSlices("blocks", "said");
  const isOpen = useIsOpen();
  const scroller = useRef<HTMLElement>(null);
  // The list of blocks is changed in place: its revisions say when.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same
  const rows = useMemo(() => rowsOf(view.blocks), [view, view.revs.blocks, view.revs.said]);
  const at = Number(new URLSearchParams(useSearch()).get("at") ?? 0);
  const [follows, setFollows] = useState(at === 0);
  // Who was led to a place stays there until they scroll themselves.
  const isLed = useRef(at !== 0);
  const [seen, setSeen] = useState(0);
  const mounted = useSelectedRows(scroller);

  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => guess(rows[at]),
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 12,
    paddingStart: 12,
    paddingEnd: 8,
    anchorTo: "end",
    followOnAppend: follows,
    scrollEndThreshold: follows ? NEAR : 0,
    rangeExtractor: mounted,
  });

  const toEnd = useCallback(() => {
    setFollows(true);
    list.scrollToEnd();
  }, [list]);

  // What grows at the end is followed also where the list does not know of it yet.
  useEffect(() => {
    if (!follows) return;
    const watch = () => {
      const box = scroller.current;
      if (box !== null && box.scrollHeight - box.scrollTop - box.clientHeight > 1) box.scrollTop = box.scrollHeight;
    };
    watch();
    const observer = new ResizeObserver(watch);
    const box = scroller.current;
    if (box !== null) {
      observer.observe(box);
      if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
    }
    return () => observer.disconnect();
  }, [follows]);

  useEffect(() => {
    if (follows) setSeen(rows.length);
  }, [follows, rows.length]);

  const leave = useCallback(() => setFollows(false), []);
  const scrolls = () => {
    isLed.current = false;
  };
  const isNearEnd = () => {
    const box = scroller.current;
    return box === null || box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
  };

  useKeys({ end: toEnd });

  // A link to something that was said leads there, once.
  const [, go] = useLocation();
  useEffect(() => {
    if (at === 0 || !isOpen || rows.length === 0) return;
    const index = rows.findLastIndex((row) => seqOf(row) <= at);
    isLed.current = true;
    setFollows(false);
    setSeen(rows.length);
    list.scrollToIndex(Math.max(0, index), { align: "start" });
    go(location.pathname, { replace: true });
  }, [at, isOpen, rows, list, go]);

  const last = useRef(0);
  return (
    <div className="log">
      <section
        ref={scroller}
        className="track"
        role="feed"
        aria-label={words.chat}
        aria-busy={!isOpen}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        tabIndex={0}
        onPointerDown={scrolls}
        onWheel={(event) => {
          scrolls();
          if (event.deltaY < 0) leave();
        }}
        onTouchMove={() => {
          scrolls();
          if (!isNearEnd()) leave();
        }}
        onKeyDown={(event) => {
          scrolls();
          if (UPWARDS.has(event.key)) leave();
          if (event.key !== "Home" || event.target !== event.currentTarget) return;
          // What is measured on the way grows above, and would end the browser's own way there.
          event.preventDefault();
          list.scrollToIndex(0, { align: "start" });
        }}
        onScroll={(event) => {
          const { scrollTop } = event.currentTarget;
          const down = scrollTop > last.current;
          last.current = scrollTop;
          // Who comes back to the end follows again.
          if (!follows && !isLed.current && down && isNearEnd()) setFollows(true);
        }}
      >
        {rows.length === 0 && !isOpen && <Skeleton />}
        <div className="rows" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <div
                  key={item.key}
                  ref={list.measureElement}
                  data-index={item.index}
                  className="at"
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <OneRow row={row} first={item.index === 0} last={item.index === rows.length - 1} />
                </div>
              )
            );
          })}
        </div>
      </section>
      {!follows && (
        <button type="button" className="btn to-end" onClick={toEnd}>
          <Icon name="down" small />
          {words.jumpToEnd(Math.max(0, rows.length - seen))}
        </button>
      )}
      <p className="hidden-label" role="status">
        {view.over && session.isOpen ? howItEnded(view, words) : ""}
      </p>
    </div>
  );
}

function OneRow({ row, first, last }: { row: Row; first: boolean; last: boolean }) {
  return row.kind === "looks" ? (
    <LooksRow calls={row.calls} count={row.calls.length} first={first} last={last} />
  ) : (
    <BlockRow block={row.block} until_ms={row.until_ms} first={first} last={last} />
  );
}

/** What is told of the end of the work to those who don't see it. */
function howItEnded(view: View, words: Words): string {
  const reason = view.blocks.findLast((block) => block.kind === "end")?.data.reason;
  switch (reason) {
    case undefined:
      return "";
    case "natural":
      return words.told.done;
    case "failed":
      return words.told.failed;
    case "cancelled":
    case "stopped":
      return words.told.stopped;
    default:
      return words.block.end[reason];
  }
}

/** The event that a row begins with. */
function seqOf(row: Row): number {
  return row.kind === "looks" ? (row.calls[0]?.seq ?? 0) : row.block.seq;
}

/** How high a row most likely is, before it is measured. */
function guess(row: Row | undefined): number {
  if (row?.kind !== "block") return 28;
  switch (row.block.kind) {
    case "answer":
      return 32 + 23 * Math.ceil(row.block.data.pieces.reduce((sum, piece) => sum + piece.length, 0) / 100);
    case "message":
      return 48;
    case "end":
      return 52;
    default:
      return 28;
  }
}
