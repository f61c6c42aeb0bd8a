//! The calls of an agent over time, each where it began.

import { memo } from "react";
import { cleanLine, type Deed } from "../fold";
import { useWords, type Words } from "../words";
import type { Axis } from "./lanes";
import { type CallMark, counted, inOrder, marksOf } from "./marks";

/** Calls of a mark that are named. */
const NAMED = 6;

type Given = { deeds: readonly Deed[]; axis: Axis; width: number };

export function CallMarks({ deeds, axis, width }: Given) {
  const words = useWords();
  return marksOf(deeds, axis, width).map(({ at, is, deeds }) => (
    <Mark key={deeds[0]?.at_ms} at={at} is={is} isMany={deeds.length > 1} title={titleOf(deeds, words)} />
  ));
}

type MarkGiven = Pick<CallMark, "at" | "is"> & { isMany: boolean; title: string };

const Mark = memo(({ at, is, isMany, title }: MarkGiven) => (
  <i
    className={isMany ? `deed many ${is}` : `deed ${is}`}
    title={title}
    style={{ left: `${(at * 100).toFixed(2)}%` }}
  />
));

function titleOf(deeds: readonly Deed[], words: Words): string {
  const lines = inOrder(deeds)
    .slice(0, NAMED)
    .map(({ is, summary }) => words.tree.call[is](cleanLine(summary)));
  if (deeds.length < 2) return lines.join("");
  const more = deeds.length > NAMED ? ["…"] : [];
  return [callsIn(deeds, words), ...lines, ...more].join("\n");
}

/** How many calls there were, and what became of those that are worth a word. */
export function callsIn(deeds: readonly Deed[], words: Words): string {
  if (deeds.length === 0) return "";
  const count = counted(deeds);
  const named = (["asks", "runs", "failed"] as const).filter((is) => count[is] > 0);
  return [words.tree.calls(count.all), ...named.map((is) => words.tree.callsAre[is](count[is]))].join(", ");
}
