//! Lines that are chosen to be said something of: by dragging along their numbers, or by keys.

import { useState } from "react";
import { isWriting } from "../parts";
import type { Acts } from "./acts";
import { placeOf } from "./remarks";
import type { At, Row } from "./rows";
import { cellsBetween, changedLine, nextLine, type Span } from "./spans";

type Given = {
  rows: readonly Row[];
  at: At | undefined;
  acts: Acts;
  /** By keys somebody came to this row. */
  onKey: (row: string) => void;
};

export function useSpan({ rows, at, acts, onKey }: Given) {
  const [span, setSpan] = useState<Span>();
  const numberOf = (key: string) => rows.findIndex((row) => row.key === key);
  const linesOf = ({ from, to, isRight }: Span) => {
    const [first, last] = [numberOf(from), numberOf(to)];
    const file = rows[first]?.file;
    return file === undefined || last < 0 ? undefined : { file, cells: cellsBetween(rows, first, last, isRight) };
  };
  const lines = span && linesOf(span);
  const stepped = (by: 1 | -1, isMore: boolean): Span | undefined => {
    if (span === undefined) return isMore ? changedLine(rows, at, by) : undefined;
    const row = rows[nextLine(rows, numberOf(span.to), by, span.isRight)];
    return row && { from: isMore ? span.from : row.key, to: row.key, isRight: span.isRight };
  };
  return {
    span,
    /** Where the lines are that are chosen now. */
    place: lines && placeOf(lines.file.path, lines.cells),
    choose: setSpan,
    /** Something is said of these lines, or what is being written is about them instead. */
    comment: (span: Span, isInstead: boolean) => {
      const found = linesOf(span);
      setSpan(undefined);
      if (found === undefined) return;
      const isWritten = rows.some((row) => row.kind === "write" && row.file === found.file);
      const act = isInstead && isWritten ? acts.placeRemark : acts.comment;
      act(found.file, found.cells);
    },
    /** The next line is chosen too, or instead; says whether the key did anything. */
    press: (by: 1 | -1) => (event: KeyboardEvent) => {
      if (isWriting(event.target) || event.ctrlKey || event.metaKey) return false;
      const next = stepped(by, event.shiftKey);
      if (next === undefined) return false;
      setSpan(next);
      onKey(next.to);
      return true;
    },
  };
}

export type Chosen = ReturnType<typeof useSpan>;
