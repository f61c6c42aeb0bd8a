//! What a person is asked, by all agents at any depth: one list, the oldest first.

import type { BlockOf, View } from "../fold";

export type Ask = BlockOf<"approval"> | BlockOf<"question">;

export function openAsks(view: View): Ask[] {
  return view.blocks.filter(
    (block): block is Ask => (block.kind === "approval" || block.kind === "question") && block.data.open && !block.void,
  );
}

/** What an agent that asks is called; the session's own has no name. */
export function askerOf(view: View, ask: Ask): string | undefined {
  const agent = ask.data.agent_id;
  return view.agents.find(({ node }) => node.id === agent)?.node.name;
}

/** Whether yes for this session is to accept edits: the root would edit, and is asked before it does. */
export function acceptsEdits(view: View, ask: BlockOf<"approval">): boolean {
  const { agent_id, request } = ask.data;
  const isRoot = agent_id === undefined || agent_id === view.root;
  const edits = (request.diff?.length ?? 0) > 0 && request.command === undefined;
  const isOrdinary = request.risk !== "high" && request.risk !== "critical";
  return view.standing.approval === "ask_first" && isRoot && edits && isOrdinary;
}
