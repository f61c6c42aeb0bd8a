//! Before anything goes back it is asked once, with exactly what goes back.

import { useEffect, useMemo, useRef } from "react";
import { Dialog, Glyph, Icon } from "../parts";
import { useWords } from "../words";
import { OneLine } from "./code-line";
import type { Going } from "./marks";
import { numbered } from "./pairs";

type Given = {
  going: readonly Going[];
  /** Why nothing can go back now. */
  off: string | undefined;
  trouble: string | undefined;
  onRevert: () => void;
  onClose: () => void;
};

export function RevertDialog({ going, off, trouble, onRevert, onClose }: Given) {
  const words = useWords();
  const { back } = words.review;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const [only] = going;
  const isOne = going.length === 1 && only?.hunks.length === 1;
  const title = isOne ? back.one : going.length === 1 ? back.file : back.all(going.length);
  return (
    <Dialog label={title} className="back" onClose={onClose}>
      <header>
        <h1>{title}</h1>
        <p className="mid">{back.what}</p>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <div className="what" tabIndex={0}>
        {going.map((each) => (
          <OneGoing key={each.file.path} going={each} />
        ))}
      </div>
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {back.refused}: {trouble}
        </p>
      )}
      <footer>
        {off !== undefined && <span className="dim cut">{off}</span>}
        <span className="grow" />
        <button type="button" className="btn" onClick={onClose}>
          {words.back} <kbd>Esc</kbd>
        </button>
        <button ref={button} type="button" className="btn solid" disabled={off !== undefined} onClick={onRevert}>
          <Icon name="undo" small />
          {back.do} <kbd>⏎</kbd>
        </button>
      </footer>
    </Dialog>
  );
}

function OneGoing({ going: { file, hunks } }: { going: Going }) {
  const { back } = useWords().review;
  const lines = useMemo(() => hunks.map((hunk) => ({ hunk, cells: numbered(hunk) })), [hunks]);
  const count = (kind: "added" | "removed") =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.kind === kind).length, 0);
  const isWhole = hunks.length === 0;
  const what =
    isWhole && file.kind === "added"
      ? back.added
      : isWhole && file.kind === "deleted"
        ? back.deleted
        : isWhole
          ? back.lines(file.added, file.removed) || back.whole
          : back.lines(count("added"), count("removed"));
  const others = file.by_others || file.since > 0 || file.own !== undefined;
  return (
    <div className="going">
      <div className="path">
        <span className="mono cut" title={file.path}>
          {file.path}
        </span>
        <span className="dim">{what}</span>
      </div>
      {others && (
        <p className="small">
          <Glyph shape="off" tone="off" /> {back.others}
        </p>
      )}
      {lines.map(({ hunk, cells }) => (
        <div key={hunk.id} className="lines">
          {cells.map((cell) => (
            <OneLine key={`${cell.before}/${cell.after}`} cell={cell} hunk={hunk} path={file.path} />
          ))}
        </div>
      ))}
    </div>
  );
}
