//! What is done with changes: kept, reverted, said something of, and gone through by keys.

import { useState } from "react";
import { readLines, useIsLive, useSession, useSlices } from "../wire";
import { useWords } from "../words";
import type { Acts } from "./acts";
import { type Going, goingOf, isKept, marksOf, without } from "./marks";
import { numbered } from "./pairs";
import { FIRST, isNow, type Range } from "./range";
import { placeOf, quoteOf } from "./remarks";
import type { At, Unchanged } from "./rows";
import { type File, known } from "./shown";
import type { Remarks } from "./use-remarks";
import type { Review } from "./use-review";

/** What became of something: told until something else is done. */
export type Outcome = { kind: "trouble" | "reverted" | "undone"; text: string } | { kind: "sent" };

export const wordsOf = (problem: unknown): string => (problem instanceof Error ? problem.message : String(problem));

type Given = { review: Review; range: Range; remarks: Remarks; choose: (at: At) => void; toggle: (file: File) => void };

export function useActs({ review, range, remarks, choose, toggle }: Given) {
  const words = useWords().review;
  const session = useSession();
  const isLive = useIsLive();
  const { over, standing, agents } = useSlices("standing", "agents");
  const [going, setGoing] = useState<readonly Going[]>();
  const [trouble, setTrouble] = useState<string>();
  const [isGoing, setIsGoing] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const [unfolded, setUnfolded] = useState<ReadonlyMap<string, readonly string[]>>(new Map());

  const works = (!over && standing.since_ms !== undefined) || agents.some(({ node }) => node.state === "running");
  const keepOff = isLive ? undefined : words.off.offline;
  const revertOff = keepOff ?? (works ? words.off.works : isNow(range) ? undefined : words.off.past);

  const fails = (problem: unknown) => setOutcome({ kind: "trouble", text: wordsOf(problem) });
  const keep: Review["keep"] = async (...given) => {
    setOutcome(undefined);
    await review.keep(...given).catch(fails);
  };
  const ask = (going: readonly Going[]) => {
    if (revertOff !== undefined || going.length === 0) return;
    setOutcome(undefined);
    setTrouble(undefined);
    setGoing(going);
  };

  const unfold = (key: string, file: File, { from, count }: Unchanged) => {
    readLines(standing.cwd, file.path, from, count).then(
      (lines) => setUnfolded((now) => new Map(now).set(key, lines)),
      fails,
    );
  };

  const acts: Acts = {
    revertOff,
    keepOff,
    isKept: review.isKept,
    isHunkKept: (file, hunk) => review.isKept(file) || isKept(hunk, review.said),
    choose,
    toggle,
    unfold: isLive && isNow(range) ? unfold : undefined,
    keepHunk: (file, hunk) => {
      if (keepOff !== undefined || hunk.id === "") return;
      const lines = known(review.lines(file.path));
      if (!acts.isHunkKept(file, hunk)) return void keep([hunk.id], true);
      if (lines === undefined) return;
      const { not, instead } = without(file, lines, hunk);
      void keep(not, false, instead);
    },
    keepFile: (file) => {
      if (keepOff !== undefined) return;
      const kept = review.isKept(file);
      const marks = marksOf(file, known(review.lines(file.path)));
      if (!kept || file.hunks === 0 || file.kept) return void keep(marks, !kept);
      // Each of its changes was kept: they are known by then.
      review.load(file).then((lines) => keep(marksOf(file, lines), false), fails);
    },
    revertHunk: (file, hunk) => {
      if (hunk.id === "") return;
      const lines = known(review.lines(file.path));
      ask([{ file, mark: lines?.mark ?? file.mark, hunks: [hunk] }]);
    },
    revertFile: (file) => ask([{ file, mark: known(review.lines(file.path))?.mark ?? file.mark, hunks: [] }]),
    comment: (file, cells) => {
      const place = placeOf(file.path, cells);
      if (place === undefined) return;
      setOutcome(undefined);
      remarks.write({ place, quoted: quoteOf(place, cells) });
    },
    commentHunk: (file, hunk) => {
      choose({ path: file.path, hunk: hunk.id });
      const cells = numbered(hunk);
      const cell = cells.findLast(({ kind }) => kind === "added") ?? cells.findLast(({ kind }) => kind === "removed");
      if (cell !== undefined) acts.comment(file, [cell]);
    },
    again: review.again,
    placeRemark: (file, cells) => {
      const place = placeOf(file.path, cells);
      if (place !== undefined) remarks.write({ ...remarks.writing, place, quoted: quoteOf(place, cells) });
    },
    saveRemark: remarks.save,
    closeRemark: () => remarks.write(undefined),
    changeRemark: (remark) => remarks.write({ place: remark, quoted: remark.quoted, remark }),
    dropRemark: remarks.drop,
    nextRemark: remarks.next,
  };

  const keepAll = () => {
    if (keepOff !== undefined) return;
    const left = review.files.filter((file) => !file.by_others && !review.isKept(file));
    const marks = left.flatMap((file) => marksOf(file, known(review.lines(file.path))));
    if (marks.length > 0) void keep(marks, true);
  };

  const revertAll = async () => {
    if (revertOff !== undefined) return;
    try {
      // Of files of which some is kept it must be known what is not.
      const left = review.files.filter((file) => !file.by_others && !review.isKept(file));
      const all = await Promise.all(
        left.map(async (file) => {
          const lines = file.hunks_kept > 0 ? await review.load(file) : known(review.lines(file.path));
          return goingOf(file, lines, review.said);
        }),
      );
      ask(all.filter((each) => each !== undefined));
    } catch (problem) {
      fails(problem);
    }
  };

  const revert = async () => {
    if (going === undefined || isGoing) return;
    setIsGoing(true);
    const changes = going.map(({ file, mark, hunks }) => ({
      path: file.path,
      mark,
      ...(hunks.length > 0 && { hunks: hunks.map(({ id }) => id) }),
    }));
    try {
      await session.send({ type: "revert_files", from: range.from ?? FIRST, changes });
      setGoing(undefined);
      const text = words.back.done(going.map(({ file }) => file.path).join(", "));
      setOutcome({ kind: "reverted", text });
      review.again();
    } catch (problem) {
      setTrouble(wordsOf(problem));
    } finally {
      setIsGoing(false);
    }
  };

  const undo = () => {
    setOutcome(undefined);
    session.send({ type: "undo_rewind" }).then(() => {
      setOutcome({ kind: "undone", text: words.back.undone });
      review.again();
    }, fails);
  };

  const send = () => {
    remarks.send();
    setOutcome({ kind: "sent" });
  };

  return {
    acts,
    unfolded,
    keepAll,
    revertAll,
    send,
    /** What is asked about, and the answers. */
    asked: { going, trouble, isGoing, revert, close: () => setGoing(undefined) },
    outcome,
    forget: () => setOutcome(undefined),
    undo,
  };
}
