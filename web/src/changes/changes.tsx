//! What the session changed, to be looked at: kept, reverted, and said something of.

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { Icon, useKeys, useStored, useWidth } from "../parts";
import type { PlaceNote } from "../proto";
import { useIsLive, useSession } from "../wire";
import { useWords } from "../words";
import { FileList } from "./file-list";
import { reviewed } from "./marks";
import { OutcomeStrip } from "./outcome-strip";
import { addressOf, isNow, type Range, rangeIn } from "./range";
import { useMessages } from "./range-picks";
import { lastOf } from "./remarks";
import { RevertDialog } from "./revert-dialog";
import { type At, hunkKey, isLarge, sheetRows, step, stops, writeKey } from "./rows";
import { type Goal, Sheet } from "./sheet";
import { type File, known } from "./shown";
import { Top } from "./top";
import { useActs } from "./use-acts";
import { useRemarks } from "./use-remarks";
import { useReview } from "./use-review";
import { useSpan } from "./use-span";

/** A stage that is narrower has lines one below the other. */
const BESIDE = 860;

export function Changes() {
  const [, go] = useLocation();
  const search = useSearch();
  const range = useMemo(() => rangeIn(search), [search]);
  const show = useCallback(
    (range: Range, replace: boolean) => go(addressOf(location.pathname, range), { replace }),
    [go],
  );
  // Other points are another review: nothing of this one is carried over.
  return <Review key={`${range.from} ${range.to}`} range={range} onRange={show} />;
}

type Given = { range: Range; onRange: (range: Range, replace: boolean) => void };

function Review({ range, onRange }: Given) {
  const words = useWords();
  const session = useSession();
  const isLive = useIsLive();
  const review = useReview(range);
  const remarks = useRemarks();
  const stage = useRef<HTMLDivElement>(null);
  const width = useWidth(stage);
  const [layout, setLayout] = useStored("changes.layout");
  const isWide = (width ?? 0) >= BESIDE;
  const isBeside = isWide && layout !== "inline";
  const { files, lines } = review;

  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const isFolded = useCallback((file: File) => folds.get(file.path) ?? isLarge(file), [folds]);
  const toggle = (file: File) => setFolds(new Map(folds).set(file.path, !isFolded(file)));

  const [at, setAt] = useState<At>();
  const [top, setTop] = useState<string>();
  const [goal, setGoal] = useState<Goal>();
  const times = useRef(0);
  const toRow = useCallback((key: string) => {
    times.current += 1;
    setGoal({ key, time: times.current });
  }, []);
  const choose = useCallback(
    (at: At) => {
      setAt(at);
      setTop(at.path);
      if (at.path !== range.file) onRange({ ...range, file: at.path }, true);
    },
    [range, onRange],
  );
  const toFile = useCallback(
    (path: string) => {
      choose({ path, hunk: undefined });
      toRow(path);
    },
    [choose, toRow],
  );
  // The address names a file: by a link from elsewhere, or from the beginning.
  const { file: named } = range;
  const isThere = files.some(({ path }) => path === named);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another address leads elsewhere
  useEffect(() => {
    if (named !== undefined && isThere && named !== at?.path) toFile(named);
  }, [named, isThere]);

  const done = useActs({ review, range, remarks, choose, toggle });
  const { acts, unfolded } = done;

  const { writing } = remarks;
  const written = writing?.place;
  useEffect(() => {
    if (written !== undefined) toRow(writeKey(written.path));
  }, [written, toRow]);
  const rows = useMemo(
    () =>
      sheetRows({
        files,
        lines,
        isFolded,
        unfolded,
        isBeside,
        remarks:
          writing?.remark === undefined
            ? remarks.remarks
            : remarks.remarks.filter(({ id }) => id !== writing.remark?.id),
        writing: writing?.place,
      }),
    [files, lines, isFolded, unfolded, isBeside, remarks.remarks, writing],
  );

  /** A change was wanted in a file of which the lines are not there yet. */
  const [pending, setPending] = useState<{ path: string; by: 1 | -1 }>();
  const goTo = (next: At | undefined, by: 1 | -1) => {
    if (next === undefined) return;
    const file = files.find(({ path }) => path === next.path);
    if (file !== undefined && isFolded(file)) setFolds(new Map(folds).set(file.path, false));
    choose(next);
    toRow(next.hunk === undefined ? next.path : hunkKey(next.path, next.hunk));
    if (next.hunk === undefined && known(lines(next.path)) === undefined) {
      review.want([next.path]);
      setPending({ path: next.path, by });
    }
  };
  const found = pending === undefined ? undefined : known(lines(pending.path));
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when they are there
  useEffect(() => {
    if (pending === undefined || found === undefined) return;
    setPending(undefined);
    const hunk = pending.by === 1 ? found.hunks[0] : found.hunks.at(-1);
    if (hunk !== undefined && at?.path === pending.path) goTo({ path: pending.path, hunk: hunk.id }, pending.by);
  }, [pending, found]);

  const move = (by: 1 | -1) => goTo(step(stops(files, lines), at, by), by);
  const moveFile = (by: 1 | -1) => {
    const index = files.findIndex(({ path }) => path === (at?.path ?? top));
    const next = files[index < 0 ? 0 : index + by];
    if (next !== undefined) toFile(next.path);
  };
  const chosen = () => {
    const file = files.find(({ path }) => path === at?.path);
    const hunk = file && known(lines(file.path))?.hunks.find(({ id }) => id === at?.hunk);
    return { file, hunk };
  };
  const onChosen = (withHunk: "keepHunk" | "revertHunk", withFile: "keepFile" | "revertFile") => () => {
    const { file, hunk } = chosen();
    if (file === undefined) return false;
    if (hunk !== undefined) acts[withHunk](file, hunk);
    else acts[withFile](file);
    return true;
  };
  const span = useSpan({
    rows,
    at,
    acts,
    onKey: (row) => {
      stage.current?.querySelector<HTMLElement>(".sheet")?.focus({ preventScroll: true });
      toRow(row);
    },
  });
  const keepChosen = onChosen("keepHunk", "keepFile");
  useKeys({
    after: () => move(1),
    before: () => move(-1),
    fileAfter: () => moveFile(1),
    fileBefore: () => moveFile(-1),
    keep: keepChosen,
    revert: onChosen("revertHunk", "revertFile"),
    ArrowDown: span.press(1),
    ArrowUp: span.press(-1),
    comment: () => {
      if (span.span !== undefined) return void span.comment(span.span, false);
      const { file, hunk } = chosen();
      if (file === undefined || hunk === undefined) return false;
      acts.commentHunk(file, hunk);
      return true;
    },
    keepAll: done.keepAll,
  });

  const kept = reviewed(files, review.isKept);
  const isEmpty = review.isLoaded && files.length === 0;
  const onTop = useCallback((path: string) => setTop(path), []);
  return (
    <>
      <Top
        range={range}
        files={files}
        kept={kept}
        current={top ?? files[0]?.path}
        layout={isWide ? (isBeside ? "beside" : "inline") : undefined}
        acts={acts}
        onRange={(next) => onRange({ ...next, file: undefined }, false)}
        onLayout={setLayout}
        onChoose={toFile}
        onKeepAll={done.keepAll}
        onRevertAll={() => void done.revertAll()}
      />
      {review.place !== undefined && <PlaceStrip place={review.place} />}
      {done.outcome !== undefined && (
        <OutcomeStrip
          outcome={done.outcome}
          canUndo={acts.revertOff === undefined}
          onUndo={done.undo}
          onClose={done.forget}
        />
      )}
      <div className="review" ref={stage}>
        {review.problem !== null && !review.isLoaded ? (
          <div className="page" role="alert">
            <h1>{words.review.trouble}</h1>
            <p className="mid">{review.problem.message}</p>
            <p className="acts">
              <button type="button" className="btn" disabled={!isLive} onClick={review.again}>
                {words.retry}
              </button>
            </p>
          </div>
        ) : (
          <>
            <FileList
              files={files}
              current={top ?? at?.path}
              isKept={review.isKept}
              isRemarked={(path) => remarks.remarks.some((remark) => remark.path === path)}
              onChoose={toFile}
              onSince={(from) => onRange({ from }, false)}
            />
            {isEmpty ? (
              <Nothing range={range} />
            ) : !review.isLoaded ? (
              <div className="sheet">
                <div className="skeleton" aria-hidden="true">
                  <i />
                  <i />
                  <i />
                </div>
              </div>
            ) : (
              <Sheet
                rows={rows}
                lines={lines}
                at={at}
                isBeside={isBeside}
                given={writing?.remark?.text ?? ""}
                goal={goal}
                acts={acts}
                chosen={span}
                onSeen={review.want}
                onTop={onTop}
              />
            )}
          </>
        )}
      </div>
      {remarks.remarks.length > 0 && (
        <div className="remarks">
          <Icon name="note" small />
          <span className="cut">{words.review.remark.some(remarks.remarks.length)}</span>
          <span className="grow" />
          <button type="button" className="btn solid" onClick={done.send}>
            {words.review.remark.send}
          </button>
        </div>
      )}
      {done.asked.going !== undefined && (
        <RevertDialog
          going={done.asked.going}
          off={done.asked.isGoing ? "" : acts.revertOff}
          trouble={done.asked.trouble}
          onRevert={() => void done.asked.revert()}
          onClose={done.asked.close}
        />
      )}
      <span className="hidden-label" role="status">
        {span.place === undefined ? "" : words.review.remark.chosen(span.place.line, lastOf(span.place))}
      </span>
      <span className="hidden-label" role="status">
        {session.isOpen && review.isLoaded ? words.review.reviewed(kept.kept, kept.all) : ""}
      </span>
    </>
  );
}

/** The folder of the session is elsewhere, or is another one. */
function PlaceStrip({ place }: { place: PlaceNote }) {
  const words = useWords().review.place;
  if (place.kind === "other") return null;
  return (
    <div className="strip" role="status">
      <Icon name="folder" small />
      <span className="cut">{words[place.kind](place.folder)}</span>
    </div>
  );
}

/** Nothing is different, and since when. */
function Nothing({ range }: { range: Range }) {
  const words = useWords().review;
  const messages = useMessages();
  const [first] = messages;
  const isAll = (range.from === undefined || range.from === "1") && isNow(range);
  return (
    <div className="page">
      <h1>{words.nothing}</h1>
      <p className="mid">{isAll ? words.nothingSince.began : words.nothingSince.point}</p>
      {isAll && first !== undefined && <p className="dim">“{first.text.trim().split("\n", 1)[0]}”</p>}
    </div>
  );
}
