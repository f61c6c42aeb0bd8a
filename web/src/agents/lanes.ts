//! What agents did over time, as stretches on an axis: time in which nobody worked takes little room on it.

import type { Activity, Lane } from "../fold";

export type Stretch = { from_ms: number; to_ms: number; lane: Exclude<Lane, "ended">; isNow: boolean };

/** What an agent did until now, without the time after it ended. */
export function stretches(activity: Activity | undefined, now_ms: number): Stretch[] {
  const lanes = activity?.lanes ?? [];
  return lanes.flatMap(([from_ms, lane], at): Stretch[] => {
    if (lane === "ended") return [];
    const next = lanes[at + 1]?.[0];
    const to_ms = Math.max(from_ms, next ?? now_ms);
    return [{ from_ms, to_ms, lane, isNow: next === undefined }];
  });
}

/** Without work for longer than this the axis is cut. */
const QUIET_MS = 90_000;

/** How near the ends of the axis nothing is written. */
const EDGE = 0.045;

/** Which part of the axis a cut takes. */
const CUT = 0.025;

type Piece = { from_ms: number; to_ms: number; from: number; to: number };

/** From times to places between 0 and 1. */
export class Axis {
  readonly pieces: readonly Piece[];

  constructor(busy: readonly Stretch[], from_ms: number, to_ms: number) {
    const times = merged(busy, from_ms, to_ms);
    const cuts = Math.min(0.5, CUT * (times.length - 1));
    const whole = times.reduce((sum, [from, to]) => sum + to - from, 0) || 1;
    let place = 0;
    this.pieces = times.map(([from, to]) => {
      const piece = { from_ms: from, to_ms: to, from: place, to: place + ((to - from) / whole) * (1 - cuts) };
      place = piece.to + (times.length > 1 ? cuts / (times.length - 1) : 0);
      return piece;
    });
  }

  /** Milliseconds that are drawn in full. */
  get length_ms(): number {
    return this.pieces.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
  }

  at(ms: number): number {
    let place = 0;
    for (const { from_ms, to_ms, from, to } of this.pieces) {
      if (ms < from_ms) return place === 0 ? 0 : (place + from) / 2;
      if (ms <= to_ms) return to_ms === from_ms ? from : from + ((ms - from_ms) / (to_ms - from_ms)) * (to - from);
      place = to;
    }
    return place;
  }

  /** Places between pieces: time is left out there. */
  get cuts(): number[] {
    return this.pieces.slice(1).map(({ from }, at) => (from + (this.pieces[at]?.to ?? from)) / 2);
  }

  /** Round times and their places, none too near another one. */
  ticks(most: number): { ms: number; at: number }[] {
    const step = STEPS.find((each) => this.length_ms / each <= most) ?? STEPS.at(-1) ?? 1;
    const ticks: { ms: number; at: number }[] = [];
    for (const { from_ms, to_ms } of this.pieces) {
      for (let ms = Math.ceil(from_ms / step) * step; ms <= to_ms; ms += step) {
        const at = this.at(ms);
        if (at - (ticks.at(-1)?.at ?? -1) > 0.7 / most && at > EDGE && at < 1 - EDGE) ticks.push({ ms, at });
      }
    }
    return ticks;
  }
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map(
  (seconds) => seconds * 1000,
);

/** The times in which somebody works or asks, as few pieces as there are long pauses. */
function merged(busy: readonly Stretch[], from_ms: number, to_ms: number): [number, number][] {
  const times = busy
    .filter(({ lane }) => lane !== "waits")
    .map(({ from_ms, to_ms }): [number, number] => [from_ms, to_ms])
    .sort(([one], [other]) => one - other);
  const pieces: [number, number][] = [];
  for (const [from, to] of times) {
    const last = pieces.at(-1);
    if (last !== undefined && from - last[1] <= QUIET_MS) last[1] = Math.max(last[1], to);
    else if (to > from) pieces.push([from, to]);
  }
  return pieces.length > 0 ? pieces : [[from_ms, Math.max(to_ms, from_ms + 1)]];
}

export type Summary = Record<Stretch["lane"], number>;

/** How long an agent did what. */
export function summed(of: readonly Stretch[]): Summary {
  const sum: Summary = { works: 0, waits: 0, asks: 0 };
  for (const { lane, from_ms, to_ms } of of) sum[lane] += to_ms - from_ms;
  return sum;
}

/** Which of others worked while one waited: whom it waited for. */
export function awaited(wait: Stretch, others: readonly { name: string; stretches: readonly Stretch[] }[]): string[] {
  return others
    .filter(({ stretches }) =>
      stretches.some(({ lane, from_ms, to_ms }) => lane !== "waits" && from_ms < wait.to_ms && to_ms > wait.from_ms),
    )
    .map(({ name }) => name);
}
