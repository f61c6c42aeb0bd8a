//! Calls as marks on the axis: what would stand upon each other is one mark.

import type { CallIs, Deed } from "../fold";
import type { Axis } from "./lanes";

/** How near marks may stand, in pixels. */
const NEAR = 8;

/** What is most worth a look first: a mark of several looks like this one of them. */
const ORDER: readonly CallIs[] = ["asks", "failed", "runs", "waits", "done", "off"];

/** How many calls there are, and how many of them stand how. */
export type Count = { all: number } & Record<CallIs, number>;

export type CallMark = { at: number; is: CallIs; deeds: readonly Deed[] };

/** Marks between 0 and 1 of an axis that is so many pixels long. */
export function marksOf(deeds: readonly Deed[], axis: Axis, width: number): CallMark[] {
  const marks: { at: number; deeds: Deed[] }[] = [];
  for (const deed of deeds) {
    const at = axis.at(deed.at_ms);
    const last = marks.at(-1);
    if (last !== undefined && (at - last.at) * width < NEAR) last.deeds.push(deed);
    else marks.push({ at, deeds: [deed] });
  }
  return marks.map(({ at, deeds }) => ({ at, is: mostOf(deeds), deeds }));
}

const mostOf = (deeds: readonly Deed[]): CallIs => ORDER.find((is) => deeds.some((deed) => deed.is === is)) ?? "done";

/** What is most worth a look first, then what came first. */
export const inOrder = (deeds: readonly Deed[]): Deed[] =>
  deeds.toSorted((one, other) => ORDER.indexOf(one.is) - ORDER.indexOf(other.is));

export function counted(deeds: readonly Deed[]): Count {
  const count: Count = { all: deeds.length, asks: 0, failed: 0, runs: 0, waits: 0, done: 0, off: 0 };
  for (const { is } of deeds) count[is] += 1;
  return count;
}
