//! States as shapes, told apart before any colour is.

import type { ReactElement } from "react";

const SHAPES = {
  wait: <circle cx="7" cy="7" r="4.2" />,
  run: (
    <>
      <circle cx="7" cy="7" r="4.7" opacity=".28" />
      <path d="M7 2.300a4.7 4.7 0 0 1 4.7 4.7" />
    </>
  ),
  ask: <path d="M7 1.8 12.2 7 7 12.2 1.8 7z" fill="currentColor" stroke="none" />,
  done: <path d="m3 7.4 2.7 2.700L11 4.6" />,
  fail: <path d="m3.6 3.6 6.8 6.800M10.4 3.600l-6.8 6.8" />,
  pause: <path d="M5 3.600v6.800M9 3.600v6.8" />,
  off: <circle cx="7" cy="7" r="4.5" strokeDasharray="2 2.3" />,
  no: (
    <>
      <circle cx="7" cy="7" r="4.7" />
      <path d="m3.8 10.2 6.4-6.4" />
    </>
  ),
  you: <path d="M7 2.200v9.6" strokeWidth="2.4" />,
  dot: <circle cx="7" cy="7" r="2.2" fill="currentColor" stroke="none" />,
  group: <path d="M4 4.600h6M4 7h6M4 9.400h6" />,
} satisfies Record<string, ReactElement>;

export type Shape = keyof typeof SHAPES;

/** What a state is to whoever reads; the colours are in the sheet. */
export type Tone = "wait" | "run" | "ask" | "done" | "good" | "fail" | "off" | "plan";

/** A state's glyph. One with a label is told to those who don't see it. */
export function Glyph({ shape, tone, label }: { shape: Shape; tone: Tone; label?: string }) {
  return label === undefined ? (
    <svg className={`g ${tone}`} viewBox="0 0 14 14" aria-hidden="true">
      {SHAPES[shape]}
    </svg>
  ) : (
    <svg className={`g ${tone}`} viewBox="0 0 14 14" role="img" aria-label={label}>
      {SHAPES[shape]}
    </svg>
  );
}
