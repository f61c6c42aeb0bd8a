//! How an agent stands and what it does, as glyph and in a few words.

import { cleanLine } from "../fold";
import { Glyph } from "../parts";
import { useWords, type Words } from "../words";
import type { Row, Standing } from "./tree";

export function StandingGlyph({ standing }: { standing: Standing }) {
  const words = useWords();
  switch (standing) {
    case "asks":
      return <Glyph shape="ask" tone="ask" label={words.tree.asks} />;
    case "rests":
      return <Glyph shape="dot" tone="done" label={words.tree.rests} />;
    case "created":
      return <Glyph shape="wait" tone="wait" label={words.block.agentState.created} />;
    case "running":
      return <Glyph shape="run" tone="run" label={words.block.agentState.running} />;
    case "paused":
      return <Glyph shape="pause" tone="off" label={words.block.agentState.paused} />;
    case "completed":
      return <Glyph shape="done" tone="done" label={words.block.agentState.completed} />;
    case "failed":
      return <Glyph shape="fail" tone="fail" label={words.block.agentState.failed} />;
    case "cancelled":
      return <Glyph shape="off" tone="off" label={words.block.agentState.cancelled} />;
  }
}

/** What an agent does now, or what it was there for. */
export function doingOf(row: Row, words: Words): string {
  const { standing, node, activity } = row;
  if (standing === "asks") return words.tree.asks;
  if (standing === "rests") return words.tree.rests;
  if (standing === "running") {
    if (activity?.does?.kind === "calls") return cleanLine(activity.does.summary);
    if (activity?.does?.kind === "thinks") return words.tree.thinks;
    return words.tree.answers;
  }
  if (standing === "failed" && node?.result?.kind === "error") return cleanLine(node.result.message);
  if (standing === "created" || standing === "paused") return words.block.agentState[standing];
  return cleanLine(node?.task ?? "");
}
