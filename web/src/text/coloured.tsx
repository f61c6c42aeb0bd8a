//! A text, or a stretch of it, in its colours.

import { Fragment, memo, type ReactNode } from "react";
import type { Parts } from "./colours";
import { signs } from "./signs";

type Given = { text: string; parts: Parts | undefined; from?: number; to?: number };

export const Coloured = memo(({ text, parts, from = 0, to = text.length }: Given) => {
  if (parts === undefined) return signs(text.slice(from, to));
  const pieces: ReactNode[] = [];
  let at = from;
  const { at: all, names } = parts;
  for (let part = firstAfter(all, from); part < all.length; part += 3) {
    const begin = Math.max(all[part] ?? 0, at);
    const end = Math.min(all[part + 1] ?? 0, to);
    if (begin >= to) break;
    if (end <= begin) continue;
    if (begin > at) pieces.push(<Fragment key={at}>{signs(text.slice(at, begin))}</Fragment>);
    pieces.push(
      <span key={begin} className={names[all[part + 2] ?? 0]}>
        {signs(text.slice(begin, end))}
      </span>,
    );
    at = end;
  }
  pieces.push(<Fragment key={at}>{signs(text.slice(at, to))}</Fragment>);
  return pieces;
});

/** Where the first part stands that ends after a place. */
export function firstAfter(parts: Uint32Array, place: number): number {
  let low = 0;
  let high = parts.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((parts[middle * 3 + 1] ?? 0) > place) high = middle;
    else low = middle + 1;
  }
  return low * 3;
}
