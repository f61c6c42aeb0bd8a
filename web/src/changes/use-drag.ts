//! Dragging along the numbers of lines chooses these lines; a click chooses one, with Shift all from the one before. A
//! finger that moves scrolls.

import { type MouseEvent, useRef } from "react";
import type { Row } from "./rows";
import { cellOf, type Span } from "./spans";
import type { Chosen } from "./use-span";

export function useDrag(rows: readonly Row[], { choose, comment }: Chosen) {
  const held = useRef<Span>(undefined);
  const last = useRef<Span>(undefined);
  const release = useRef(comment);
  release.current = comment;

  const rowOf = (target: Element) => {
    const index = target.closest<HTMLElement>("[data-index]")?.dataset.index;
    return index === undefined ? undefined : rows[Number(index)];
  };
  const hold = (span: Span) => {
    held.current = span;
    choose(span);
  };
  /** The row from which a click with Shift chooses. */
  const before = (row: Row) => {
    const from = last.current;
    const isThere = rows.some(({ key, file }) => key === from?.from && file === row.file);
    return isThere ? from : undefined;
  };
  return {
    onMouseDown: (event: MouseEvent) => {
      const number = event.target instanceof Element ? event.target.closest("i") : null;
      const row = number === null ? undefined : rowOf(number);
      const isRight = number?.closest(".r") !== null;
      if (event.button !== 0 || row === undefined || cellOf(row, isRight) === undefined) return;
      // No text is selected, and who writes goes on writing.
      event.preventDefault();
      const isMore = event.shiftKey;
      const from = (isMore ? before(row) : undefined) ?? { from: row.key, isRight };
      hold({ ...from, to: row.key });
      const up = () => {
        last.current = held.current;
        held.current = undefined;
        if (last.current !== undefined) release.current(last.current, isMore);
      };
      addEventListener("mouseup", up, { once: true });
    },
    onMouseMove: (event: MouseEvent) => {
      const span = held.current;
      const row = span === undefined || !(event.target instanceof Element) ? undefined : rowOf(event.target);
      if (span === undefined || row === undefined || row.key === span.to) return;
      if (cellOf(row, span.isRight) !== undefined) hold({ ...span, to: row.key });
    },
  };
}
