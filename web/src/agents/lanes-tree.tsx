//! The tree of agents, and beside each what it did over time: who waited for whom is seen.

// biome-ignore-all lint/a11y/useSemanticElements: rows that are grids of their own are no rows of a table
// biome-ignore-all lint/a11y/useFocusableInteractive: a row has the focus, its cells have none
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import { useNow, useWidth } from "../parts";
import { useSlices } from "../wire";
import { type Format, useFormat, useWords, type Words } from "../words";
import { CallMarks, callsIn } from "./call-marks";
import { Axis, awaited, type Stretch, stretches, summed } from "./lanes";
import { doingOf, StandingGlyph } from "./standing";
import type { Row } from "./tree";

type Given = {
  rows: readonly Row[];
  chosen: string | undefined;
  onChoose: (row: Row) => void;
  onOpen: (row: Row) => void;
};

/** Times that are written on the axis: with their seconds they are longer. */
const TICKS = { minutes: 7, seconds: 4 };

type Drawn = { row: Row; of: Stretch[] };

export function LanesTree({ rows, chosen, onChoose, onOpen }: Given) {
  const words = useWords();
  const format = useFormat();
  const view = useSlices("agents", "standing");
  const isAtWork = rows.some(({ standing }) => standing === "running" || standing === "asks");
  const clock = useNow(isAtWork);
  // A clock that goes behind the server's draws nothing backwards.
  const now = isAtWork ? Math.max(clock, view.at_ms) : view.at_ms;
  const drawn: Drawn[] = rows.map((row) => ({ row, of: stretches(row.activity, now) }));
  const from = Math.min(now, ...drawn.flatMap(({ of }) => of.map(({ from_ms }) => from_ms)));
  const all = drawn.flatMap(({ of }) => of);
  const axis = new Axis(all, from, now);
  const isShort = axis.length_ms < 4 * 60_000;
  const ticks = axis.ticks(isShort ? TICKS.seconds : TICKS.minutes);
  const [focus, setFocus] = useState<string>();
  const body = useRef<HTMLDivElement>(null);
  const time = useRef<HTMLSpanElement>(null);
  const width = useWidth(time) ?? 0;
  const held = focus ?? chosen ?? rows[0]?.id;

  const move = (event: KeyboardEvent, at: number) => {
    const row = rows[at];
    const to =
      event.key === "ArrowDown"
        ? at + 1
        : event.key === "ArrowUp"
          ? at - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? rows.length - 1
              : undefined;
    if (to !== undefined) {
      const next = rows[Math.min(rows.length - 1, Math.max(0, to))];
      if (next === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setFocus(next.id);
      body.current?.querySelector<HTMLElement>(`[data-agent="${next.id}"]`)?.focus();
    } else if (row !== undefined && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      // Who is chosen already is opened.
      if (event.key === "Enter" && row.id === chosen) onOpen(row);
      else onChoose(row);
    }
  };
  return (
    <div className="lanes" role="treegrid" aria-label={words.tree.label}>
      <div className="lane head" role="row">
        <span role="columnheader">{words.tree.columns.agent}</span>
        <span role="columnheader">{words.tree.columns.model}</span>
        <span role="columnheader" className="cost">
          {words.tree.columns.cost}
        </span>
        <span ref={time} role="columnheader" className="time">
          <span className="hidden-label">{words.tree.columns.time}</span>
          {ticks.map(({ ms, at }) => (
            <span key={ms} aria-hidden="true" style={{ left: percent(at) }}>
              {isShort ? format.seconds(ms) : format.clock(ms)}
            </span>
          ))}
        </span>
      </div>
      <div ref={body} role="rowgroup">
        {drawn.map(({ row, of }, at) => (
          <div
            key={row.id}
            role="row"
            className={row.id === chosen ? "lane sel" : "lane"}
            data-agent={row.id}
            aria-level={row.level}
            aria-selected={row.id === chosen}
            tabIndex={row.id === held ? 0 : -1}
            onFocus={() => setFocus(row.id)}
            onClick={() => onChoose(row)}
            onDoubleClick={() => onOpen(row)}
            onKeyDown={(event) => move(event, at)}
          >
            <Who row={row} />
            <span role="gridcell" className="cut dim small">
              {row.model}
            </span>
            <Cost row={row} />
            <span role="gridcell" className="time" aria-label={told(of, drawn, row, words, format)}>
              {ticks.map(({ ms, at }) => (
                <i key={ms} className="rule" style={{ left: percent(at) }} />
              ))}
              {axis.cuts.map((at) => (
                <i key={at} className="left-out" title={words.tree.leftOut} style={{ left: percent(at) }} />
              ))}
              {of.map((stretch) => (
                <Bar
                  key={stretch.from_ms}
                  stretch={stretch}
                  axis={axis}
                  row={row}
                  others={drawn}
                  isLast={isEnd(of, stretch)}
                />
              ))}
              <CallMarks deeds={row.activity?.deeds ?? []} axis={axis} width={width} />
              {isAtWork && <i className="now" style={{ left: percent(axis.at(now)) }} />}
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}

const percent = (part: number) => `${(part * 100).toFixed(2)}%`;

const isEnd = (of: readonly Stretch[], stretch: Stretch) => of.at(-1) === stretch;

function Who({ row }: { row: Row }) {
  const words = useWords();
  const { collapsed } = row.node ?? {};
  return (
    <span role="gridcell" className="who">
      {row.guides.map((guide, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a guide is its level
        <span key={at} className={`ind ${guide}`} aria-hidden="true" />
      ))}
      <StandingGlyph standing={row.standing} />
      <span className="mono">{row.name}</span>
      <span className={row.standing === "asks" ? "cut small ask" : "cut small dim"}>
        {doingOf(row, words)}
        {(collapsed ?? 0) > 0 && ` · ${words.tree.more(collapsed ?? 0)}`}
      </span>
    </span>
  );
}

/** What an agent used itself; with those below it where there are some. */
function Cost({ row: { own, subtree } }: { row: Row }) {
  const words = useWords();
  const format = useFormat();
  const spent = format.spent(own);
  const all = format.spent(subtree);
  return (
    <span role="gridcell" className="num cost" title={all === undefined ? undefined : words.tree.withBelow(all)}>
      {spent ?? (own.input + own.output > 0 ? format.tokens(own.input + own.output) : "")}
    </span>
  );
}

type BarGiven = { stretch: Stretch; axis: Axis; row: Row; others: readonly Drawn[]; isLast: boolean };

function Bar({ stretch, axis, row, others, isLast }: BarGiven) {
  const words = useWords();
  const format = useFormat();
  const from = axis.at(stretch.from_ms);
  const to = axis.at(stretch.to_ms);
  const isOver = row.standing !== "running" && row.standing !== "asks";
  const isBad = isLast && row.standing === "failed";
  // Who was made and waits for a turn, or is done and waits for more, is no stretch of its own at the end.
  if (stretch.lane === "waits" && stretch.isNow && (row.standing === "rests" || row.standing === "created"))
    return null;
  const kind = isBad ? "bad" : stretch.lane === "works" && stretch.isNow && !isOver ? "works now-works" : stretch.lane;
  const took = format.duration(Math.max(0, stretch.to_ms - stretch.from_ms));
  const whom = stretch.lane === "waits" ? whomFor(stretch, row, others) : "";
  const title =
    stretch.lane === "works"
      ? words.tree.worked(took)
      : stretch.lane === "asks"
        ? words.tree.askedYou(took)
        : words.tree.waited(took, whom);
  return <span className={`span ${kind}`} title={title} style={{ left: percent(from), width: percent(to - from) }} />;
}

/** Of those below somebody, who worked while it waited. */
function whomFor(stretch: Stretch, row: Row, others: readonly Drawn[]): string {
  const below = others
    .filter((other) => other.row.node?.parent === row.id)
    .map((other) => ({ name: other.row.name, stretches: other.of }));
  return awaited(stretch, below).join(", ");
}

/** The same as the lane, in words. */
function told(of: readonly Stretch[], others: readonly Drawn[], row: Row, words: Words, format: Format): string {
  const sum = summed(of);
  const waits = of.filter(({ lane }) => lane === "waits");
  const whom = [...new Set(waits.flatMap((wait) => whomFor(wait, row, others).split(", ").filter(Boolean)))];
  return [
    sum.works > 0 ? words.tree.worked(format.duration(sum.works)) : "",
    sum.asks > 0 ? words.tree.askedYou(format.duration(sum.asks)) : "",
    sum.waits > 0 && whom.length > 0 ? words.tree.waited(format.duration(sum.waits), whom.join(", ")) : "",
    callsIn(row.activity?.deeds ?? [], words),
  ]
    .filter(Boolean)
    .join(", ");
}

/** The rows of the session around here, made anew when agents change. */
export function useRowsOf<T>(make: (view: ReturnType<typeof useSlices>) => T): T {
  const view = useSlices("agents", "standing", "asked");
  const { revs } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is changed in place, its revisions say when
  return useMemo(() => make(view), [view, revs.agents, revs.standing, revs.asked]);
}
