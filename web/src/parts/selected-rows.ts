//! Rows of a long list between which something is selected: they stay mounted, so that it can be copied.

import type { Range } from "@tanstack/react-virtual";
import { type RefObject, useCallback, useEffect, useRef } from "react";

/** Which rows are mounted of a list whose rows have their number as `data-index`. */
export function useSelectedRows(scroller: RefObject<HTMLElement | null>): (range: Range) => number[] {
  const kept = useRef<[number, number]>(undefined);
  useEffect(() => {
    const rowOf = (node: Node | null) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const at = element?.closest<HTMLElement>("[data-index]")?.dataset.index;
      return at === undefined ? undefined : Number(at);
    };
    const note = () => {
      const selection = getSelection();
      const inside = selection !== null && !selection.isCollapsed && scroller.current?.contains(selection.anchorNode);
      const ends = inside ? [rowOf(selection.anchorNode), rowOf(selection.focusNode)] : [];
      const [one, two] = ends;
      kept.current = one === undefined || two === undefined ? undefined : [Math.min(one, two), Math.max(one, two)];
    };
    document.addEventListener("selectionchange", note);
    return () => document.removeEventListener("selectionchange", note);
  }, [scroller]);
  return useCallback(({ startIndex, endIndex, overscan, count }: Range) => {
    const from = Math.max(0, Math.min(startIndex - overscan, kept.current?.[0] ?? startIndex));
    const to = Math.min(count - 1, Math.max(endIndex + overscan, kept.current?.[1] ?? endIndex));
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  }, []);
}
