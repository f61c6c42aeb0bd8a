//! One line of the track: when, what state, and the words right of it.

import type { ReactNode } from "react";
import { useFormat } from "../words";

type Given = {
  at_ms: number;
  first?: boolean;
  last?: boolean;
  node: ReactNode;
  isVoid?: boolean;
  children: ReactNode;
};

export function Track({ at_ms, first, last, node, isVoid, children }: Given) {
  const format = useFormat();
  const names = ["block", first && "first", last && "last", isVoid && "void"].filter(Boolean).join(" ");
  return (
    <article className={names}>
      <time dateTime={new Date(at_ms).toISOString()} title={format.whole(at_ms)}>
        {format.clock(at_ms)}
      </time>
      <div className="node">{node}</div>
      <div className="body">{children}</div>
    </article>
  );
}
