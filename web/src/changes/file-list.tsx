//! The changed files below their folders, with what was reviewed; and the checkpoints.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { Glyph, Icon } from "../parts";
import { useSlices } from "../wire";
import { useFormat, useWords } from "../words";
import { stateOf } from "./range-picks";
import type { File } from "./shown";
import { treeOf } from "./tree";

type Given = {
  files: readonly File[];
  current: string | undefined;
  isKept: (file: File) => boolean;
  isRemarked: (path: string) => boolean;
  onChoose: (path: string) => void;
  onSince: (rev: string) => void;
};

export function FileList({ files, current, isKept, isRemarked, onChoose, onSince }: Given) {
  const words = useWords().review;
  const rows = useMemo(() => treeOf(files), [files]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 28,
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 12,
  });
  const at = rows.findIndex(({ key }) => key === current);
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at, { align: "auto" });
  }, [at, list]);
  return (
    <nav className="files" aria-label={words.files}>
      <div className="list" ref={scroller}>
        <div className="rows" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ key, index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <div
                key={key}
                ref={list.measureElement}
                data-index={index}
                className="at"
                style={{ transform: `translateY(${start}px)` }}
              >
                {row.kind === "folder" && (
                  <div className="dir" title={row.name}>
                    <Icon name="folder" small />
                    <span className="cut">{row.name}</span>
                  </div>
                )}
                {row.kind === "others" && <div className="dir theirs">{words.others}</div>}
                {row.kind === "file" && (
                  <FileRow
                    name={row.name}
                    file={row.file}
                    isCurrent={row.key === current}
                    isKept={isKept(row.file)}
                    isRemarked={isRemarked(row.key)}
                    onChoose={() => onChoose(row.key)}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
      <Checkpoints onSince={onSince} />
    </nav>
  );
}

type RowGiven = {
  name: string;
  file: File;
  isCurrent: boolean;
  isKept: boolean;
  isRemarked: boolean;
  onChoose: () => void;
};

function FileRow({ name, file, isCurrent, isKept, isRemarked, onChoose }: RowGiven) {
  const words = useWords().review;
  const { path, added, removed, by_others, hunks_kept } = file;
  const glyph = isKept ? (
    <Glyph shape="done" tone="done" label={words.states.kept} />
  ) : by_others ? (
    <Glyph shape="off" tone="off" label={words.states.others} />
  ) : hunks_kept > 0 ? (
    <Glyph shape="wait" tone="wait" label={words.states.part} />
  ) : (
    <Glyph shape="wait" tone="wait" label={words.states.open} />
  );
  return (
    <button
      type="button"
      className={isKept ? "row kept" : "row"}
      aria-current={isCurrent ? "true" : undefined}
      title={path}
      onClick={onChoose}
    >
      {glyph}
      <span className="mono cut">{name}</span>
      {isRemarked && (
        <span className="dim" title={words.remarked}>
          <Icon name="note" small />
          <span className="hidden-label">{words.remarked}</span>
        </span>
      )}
      <span className="end num">
        {added > 0 && <span className="plus">{added}</span>}
        {removed > 0 && <span className="minus">{removed}</span>}
      </span>
    </button>
  );
}

/** Checkpoints that are listed; all of them stand in the range. */
const SHOWN = 5;

function Checkpoints({ onSince }: { onSince: (rev: string) => void }) {
  const words = useWords().review;
  const format = useFormat();
  const { checkpoints } = useSlices("changes");
  if (checkpoints.length === 0) return null;
  return (
    <section className="kept-states">
      <header>
        <h2>{words.checkpoints}</h2>
        <span className="grow" />
        <span className="dim num">{format.count(checkpoints.length)}</span>
      </header>
      {checkpoints
        .toReversed()
        .slice(0, SHOWN)
        .map(({ rev, at_ms, when, label }) => (
          <button
            key={rev}
            type="button"
            className="row"
            title={words.sinceTime(format.clock(at_ms), stateOf(words, { when, label }))}
            onClick={() => onSince(rev)}
          >
            <Icon name="clock" small />
            <span className="num">{format.clock(at_ms)}</span>
            <span className="cut dim">{stateOf(words, { when, label })}</span>
          </button>
        ))}
    </section>
  );
}
