//! A view as docs/view.md has it, for comparing it with what other front ends make of the same log.

import type { Block } from "./block";
import { isNothing } from "./usage";
import type { View } from "./view";

export function shape(view: View): unknown {
  const { standing, activity } = view;
  const { sandbox: _, aside, compacting, ...rest } = standing;
  const filled = <T extends unknown[]>(list: T) => (list.length > 0 ? list : undefined);
  return {
    blocks: view.blocks.map(block),
    ...rest,
    session_id: standing.session_id || undefined,
    cwd: standing.cwd || undefined,
    model: standing.model || undefined,
    compacting: compacting || undefined,
    aside: isNothing(aside) ? undefined : aside,
    waits_for: view.waits_for,
    title: view.title,
    todos: filled(view.todos),
    plan: view.plan,
    findings: filled(view.findings),
    agents: view.agents,
    activity: Object.fromEntries(
      Object.entries(activity).map(([agent, { does, asks, lanes }]) => [
        agent,
        { does, asks: filled(asks), lanes: filled(lanes) },
      ]),
    ),
    workflows: filled(view.workflows),
    over: view.over,
  };
}

function block({ rev: _, ...block }: Block): unknown {
  if (block.kind === "answer" || block.kind === "thinking") {
    return { ...block, data: { text: block.data.pieces.join(""), over: block.data.over } };
  }
  if (block.kind === "call") {
    const { written, printed, ...data } = block.data;
    return { ...block, data: { ...data, written: written || undefined, printed: printed || undefined } };
  }
  return block;
}
