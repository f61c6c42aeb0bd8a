//! How long is waited before a connection is tried again.

const FIRST = 250;
const MOST = 10_000;

/** Milliseconds before a try, from 0; twice as long each time, and never the same for all tabs. */
export function pause(tried: number, chance: number = Math.random()): number {
  const whole = Math.min(FIRST * 2 ** tried, MOST);
  return Math.max(FIRST, whole / 2 + (whole / 2) * chance);
}
