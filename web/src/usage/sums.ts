//! Sums of what was used: by day, by folder, by session.

import type { SessionRow, Usage } from "../proto";

/** What several calls used together. */
export type Sum = {
  input: number;
  output: number;
  cache_read: number;
  reasoning: number;
  /** Nothing where no price is known of anything. */
  cost: number | undefined;
  /** Calls without a known price. */
  unpriced: number;
};

export const nothing = (): Sum => ({ input: 0, output: 0, cache_read: 0, reasoning: 0, cost: undefined, unpriced: 0 });

export function add(sum: Sum, used: Usage): Sum {
  return {
    input: sum.input + used.input,
    output: sum.output + used.output,
    cache_read: sum.cache_read + (used.cache_read ?? 0),
    reasoning: sum.reasoning + (used.reasoning ?? 0),
    cost: used.cost == null ? sum.cost : (sum.cost ?? 0) + used.cost,
    unpriced: sum.unpriced + (used.unpriced ?? 0),
  };
}

export const tokensOf = ({ input, output }: Sum): number => input + output;

/** How much of the input was read from the vendor's cache, in percent. */
export const cachedOf = ({ input, cache_read }: Sum): number =>
  input === 0 ? 0 : Math.round((cache_read * 100) / input);

/** Sums by a name, those that used most first. */
export function summed<T>(
  all: readonly T[],
  nameOf: (each: T) => string,
  usageOf: (each: T) => Usage | undefined,
): [string, Sum][] {
  const sums = new Map<string, Sum>();
  for (const each of all) {
    const used = usageOf(each);
    if (used === undefined || used.input + used.output === 0) continue;
    const name = nameOf(each);
    sums.set(name, add(sums.get(name) ?? nothing(), used));
  }
  return Array.from(sums).sort(([, one], [, other]) => tokensOf(other) - tokensOf(one));
}

const DAY = 24 * 60 * 60 * 1000;

/** The first millisecond of a day. */
const dayOf = (ms: number): number => new Date(ms).setHours(0, 0, 0, 0);

export type Day = { day: number; sum: Sum };

/** The last days up to now, the oldest first, also those without anything; a session counts for the day of its last use. */
export function byDay(rows: readonly SessionRow[], now: number, count: number): Day[] {
  const days = new Map<number, Sum>();
  for (let back = count - 1; back >= 0; back--) {
    // A day may have 23 or 25 hours: its middle is always in it.
    days.set(dayOf(dayOf(now) + DAY / 2 - back * DAY), nothing());
  }
  for (const { updated, usage } of rows) {
    const day = dayOf(Date.parse(updated));
    const sum = days.get(day);
    if (sum !== undefined && usage !== undefined) days.set(day, add(sum, usage));
  }
  return Array.from(days, ([day, sum]) => ({ day, sum }));
}
