//! Sums of what was used: by day, model, agent, folder, session.

import type { Usage, UsageRow } from "../proto";

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

export type Day = { day: number; sum: Sum };

/** The days up to the last one, the oldest first, also those without anything. */
export function byDay(rows: readonly UsageRow[], to: string, count: number): Day[] {
  const days = new Map<string, Sum>();
  const last = new Date(`${to}T12:00:00`);
  for (let back = count - 1; back >= 0; back--) {
    // A day may have 23 or 25 hours: its middle is always in it.
    days.set(written(new Date(last.getTime() - back * DAY)), nothing());
  }
  for (const { day, usage } of rows) {
    const sum = days.get(day);
    if (sum !== undefined) days.set(day, add(sum, usage));
  }
  return Array.from(days, ([day, sum]) => ({ day: Date.parse(`${day}T12:00:00`), sum }));
}

/** A day as the server writes it. */
function written(day: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
