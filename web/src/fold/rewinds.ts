//! Which events of a log still count, after going back and taking that back.

type Range = { from: number; to: number };

/** The rewinds of a log: where each stands, and the last event before it that still counts. */
export type Rewinds = [seq: number, to: number][];

/** What counts of the log up to the event `last`, in order. */
export function effective(rewinds: Rewinds, last: number): Range[] {
  const ranges: Range[] = [];
  let end = last;
  for (const [seq, to] of rewinds.toReversed()) {
    if (seq <= end) {
      ranges.push({ from: seq, to: end });
      // What a damaged log says must not count events twice.
      end = Math.min(to, seq - 1);
    }
  }
  ranges.push({ from: 1, to: end });
  return ranges.reverse();
}

export function counts(ranges: Range[], seq: number): boolean {
  return ranges.some(({ from, to }) => from <= seq && seq <= to);
}
