//! How much of something there is, as a bar and in words.

import type { ReactNode } from "react";

type Given = { part: number; label: string; isStill?: boolean; children?: ReactNode };

export function BarTrack({ part, label, isStill, children }: Given) {
  const width = `${Math.round(Math.min(1, Math.max(0, part)) * 100)}%`;
  return (
    <span className="measure">
      <span className={isStill ? "bar-track still" : "bar-track"} role="img" aria-label={label}>
        <i style={{ width }} />
      </span>
      {children !== undefined && <span className="num dim">{children}</span>}
    </span>
  );
}
