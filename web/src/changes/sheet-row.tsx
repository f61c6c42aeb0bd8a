//! One row of the sheet: the head of a file, of a change, a line, what is said of it, or what is not shown.

import { memo, type ReactNode } from "react";
import { Glyph, Icon, Key } from "../parts";
import { useFormat, useWords } from "../words";
import type { Acts } from "./acts";
import { OneLine, PairLine } from "./code-line";
import { RemarkCard, RemarkField } from "./remark-card";
import type { Row } from "./rows";
import type { File, Known } from "./shown";
import { known } from "./shown";
import type { Picked } from "./spans";

type Given = { row: Row; lines: Known; isChosen: boolean; picked: Picked; given: string; acts: Acts };

/** While the sheet is scrolled no row is drawn twice. */
export const SheetRow = memo(({ row, lines, isChosen, picked, given, acts }: Given) => {
  const words = useWords().review;
  switch (row.kind) {
    case "others":
      return <h2 className="theirs">{words.others}</h2>;
    case "file":
      return <FileHead file={row.file} isFolded={row.isFolded} lines={lines} acts={acts} />;
    case "hunk":
      return <HunkHead row={row} isChosen={isChosen} acts={acts} />;
    case "pair":
      return <PairLine pair={row.pair} hunk={row.hunk} path={row.file.path} picked={picked} />;
    case "line":
      return <OneLine cell={row.cell} hunk={row.hunk} path={row.file.path} isPicked={picked !== ""} />;
    case "unchanged":
      return <Unchanged row={row} acts={acts} />;
    case "note":
      return <NoteRow row={row} acts={acts} />;
    case "remark":
      return (
        <RemarkCard
          remark={row.remark}
          onChange={() => acts.changeRemark(row.remark)}
          onDrop={() => acts.dropRemark(row.remark)}
          onNext={() => acts.nextRemark(row.remark)}
        />
      );
    case "write":
      return (
        <RemarkField
          place={row.place}
          given={given}
          cells={row.cells}
          onPlace={(cells) => acts.placeRemark(row.file, cells)}
          onSave={acts.saveRemark}
          onClose={acts.closeRemark}
        />
      );
  }
});

function Unchanged({ row: { key, file, gap }, acts }: { row: Extract<Row, { kind: "unchanged" }>; acts: Acts }) {
  const words = useWords().review;
  const { unfold } = acts;
  if (unfold === undefined) return <div className="fold">{words.unchanged(gap.count)}</div>;
  return (
    <button type="button" className="fold" aria-expanded={false} onClick={() => unfold(key, file, gap)}>
      <Icon name="down" small />
      {words.unchanged(gap.count)}
    </button>
  );
}

type HeadGiven = { file: File; isFolded: boolean; lines: Known; acts: Acts };

function FileHead({ file, isFolded, lines, acts }: HeadGiven) {
  const words = useWords().review;
  const format = useFormat();
  const { path, kind, added, removed, messages, by_others, since } = file;
  const isKept = acts.isKept(file);
  const changes = known(lines)?.hunks.length ?? file.hunks;
  const facts = [
    kind !== "modified" ? words.kinds[kind] : changes > 0 ? words.changes(changes) : words.kinds.modified,
    messages.length > 0 ? words.ofMessages(messages.map((message) => format.count(message)).join(", ")) : "",
    !by_others && since > 0 ? words.othersToo(since) : "",
  ];
  return (
    <div className={isKept ? "fhead kept" : "fhead"}>
      <button
        type="button"
        className="btn small ghost icon"
        aria-expanded={!isFolded}
        aria-label={isFolded ? words.unfold : words.fold}
        title={isFolded ? words.unfold : words.fold}
        onClick={() => acts.toggle(file)}
      >
        <Icon name={isFolded ? "right" : "down"} small />
      </button>
      <Icon name={kind === "added" ? "plus" : kind === "deleted" ? "cross" : "pen"} small />
      <h2 className="mono cut" title={path}>
        {path}
      </h2>
      {added > 0 && <span className="plus">+{added}</span>}
      {removed > 0 && <span className="minus">−{removed}</span>}
      <span className="dim small cut wide">{facts.filter(Boolean).join(" · ")}</span>
      <span className="grow" />
      <button
        type="button"
        className="btn small"
        disabled={acts.revertOff !== undefined}
        title={acts.revertOff}
        onClick={() => acts.revertFile(file)}
      >
        <Icon name="undo" small />
        <span className="says">{words.revertFile}</span>
      </button>
      <KeepButton isKept={isKept} off={acts.keepOff} label={words.keepFile} onClick={() => acts.keepFile(file)} />
    </div>
  );
}

type KeepGiven = { isKept: boolean; off: string | undefined; label: string; hint?: ReactNode; onClick: () => void };

function KeepButton({ isKept, off, label, hint, onClick }: KeepGiven) {
  const words = useWords().review;
  return (
    <button
      type="button"
      className={isKept ? "btn small ghost" : "btn small"}
      aria-pressed={isKept}
      disabled={off !== undefined}
      title={off ?? (isKept ? words.unkeep : undefined)}
      onClick={onClick}
    >
      {isKept && <Glyph shape="done" tone="done" />}
      {isKept ? words.kept : label}
      {!isKept && hint}
    </button>
  );
}

type HunkGiven = { row: Extract<Row, { kind: "hunk" }>; isChosen: boolean; acts: Acts };

function HunkHead({ row: { file, hunk }, isChosen, acts }: HunkGiven) {
  const words = useWords().review;
  const isKept = acts.isHunkKept(file, hunk);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: by key one goes from change to change
    // biome-ignore lint/a11y/noStaticElementInteractions: the same
    <div className={isChosen ? "hunk sel" : "hunk"} onClick={() => acts.choose({ path: file.path, hunk: hunk.id })}>
      <h3 className="cut" title={hunk.heading}>
        <span className="mono">@{hunk.before > 0 ? hunk.before : hunk.after}</span> {hunk.heading}
      </h3>
      <span className="acts">
        {!isKept && (
          <>
            <button type="button" className="btn small ghost" onClick={() => acts.commentHunk(file, hunk)}>
              <Icon name="note" small />
              <span className="says">{words.comment}</span> <Key of="comment" />
            </button>
            {hunk.id !== "" && (
              <button
                type="button"
                className="btn small"
                disabled={acts.revertOff !== undefined}
                title={acts.revertOff}
                onClick={() => acts.revertHunk(file, hunk)}
              >
                <Icon name="undo" small />
                {words.revert} <Key of="revert" />
              </button>
            )}
          </>
        )}
        {hunk.id !== "" && (
          <KeepButton
            isKept={isKept}
            off={acts.keepOff}
            label={words.keep}
            hint={<Key of="keep" />}
            onClick={() => acts.keepHunk(file, hunk)}
          />
        )}
      </span>
    </div>
  );
}

function NoteRow({ row: { note, file }, acts }: { row: Extract<Row, { kind: "note" }>; acts: Acts }) {
  const words = useWords();
  const { notes } = words.review;
  switch (note) {
    case "comes":
      return (
        <div className="skeleton" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      );
    case "large":
      return (
        <p className="said-of">
          {notes.large(file.added + file.removed)}
          <button type="button" className="btn small" onClick={() => acts.toggle(file)}>
            {notes.show}
          </button>
        </p>
      );
    case "trouble":
      return (
        <p className="said-of">
          <span className="del">{notes.trouble}</span>
          <button type="button" className="btn small" onClick={acts.again}>
            {words.retry}
          </button>
        </p>
      );
    case "binary":
    case "cut":
    case "same":
      return <p className="said-of">{notes[note]}</p>;
  }
}
