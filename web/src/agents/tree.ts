//! The agents of a session as the rows of a tree: the root first, each followed by everybody below it.

import { type Activity, type Agent, CALL, isLive, type View, works } from "../fold";
import type { AgentNode, Usage } from "../proto";

/** What is drawn left of a row, level by level: a line that goes on, a branch, the last branch, or nothing. */
export type Guide = "on" | "tee" | "end" | "none";

/** How an agent stands, as people see it. */
export type Standing = AgentNode["state"] | "asks" | "rests";

export type Row = {
  id: string;
  name: string;
  /** From 1, which is the root's. */
  level: number;
  guides: Guide[];
  /** What is known of it; nothing of the root, which the session itself is. */
  node?: AgentNode;
  activity: Activity | undefined;
  standing: Standing;
  model: string;
  own: Usage;
  subtree: Usage;
};

export const ROOT = "root";

/** Whether an agent is one of those that people see: a single call of a workflow is a task of that. */
const isSeen = (view: View, { node }: Agent) => !(view.in_workflow && node.role === CALL);

export function rowsOf(view: View): Row[] {
  const root = view.root;
  if (root === undefined) return [];
  const agents = view.agents.filter((agent) => isSeen(view, agent));
  const known = new Set(agents.map(({ node }) => node.id));
  const below = new Map<string, AgentNode[]>();
  for (const { node } of agents) {
    // Who was made by somebody that is gone stands below the root.
    const parent = node.parent !== undefined && known.has(node.parent) ? node.parent : root;
    below.set(parent, [...(below.get(parent) ?? []), node]);
  }
  const rows: Row[] = [rootOf(view, root)];
  const add = (parent: string, lines: Guide[]) => {
    const children = below.get(parent) ?? [];
    children.forEach((node, at) => {
      const isLast = at === children.length - 1;
      rows.push(rowOf(view, node, [...lines, isLast ? "end" : "tee"]));
      add(node.id, [...lines, isLast ? "none" : "on"]);
    });
  };
  add(root, []);
  return rows;
}

function rootOf(view: View, id: string): Row {
  const activity = view.activity[id];
  const { standing } = view;
  const asks = (activity?.asks.length ?? 0) > 0;
  return {
    id,
    name: ROOT,
    level: 1,
    guides: [],
    activity,
    standing: asks ? "asks" : works(standing) ? "running" : "rests",
    model: standing.answers ?? standing.model,
    own: view.own,
    subtree: standing.usage,
  };
}

function rowOf(view: View, node: AgentNode, guides: Guide[]): Row {
  const activity = view.activity[node.id];
  const asks = isLive(node.state) && (activity?.asks.length ?? 0) > 0;
  return {
    id: node.id,
    name: node.name,
    level: guides.length + 1,
    guides,
    node,
    activity,
    standing: asks ? "asks" : node.state,
    model: node.model_group,
    own: node.usage,
    subtree: node.subtree_usage,
  };
}

/** The row that an address means: by name, or by id. */
export const rowNamed = (rows: readonly Row[], name: string | undefined): Row | undefined =>
  name === undefined ? undefined : rows.find((row) => row.name === name || row.id === name);

/** Whom somebody looks for who named nobody: who asks, else who works or is about to. */
export function rowWanted(rows: readonly Row[]): Row | undefined {
  return (
    rows.find(({ standing }) => standing === "asks") ??
    rows.find(({ standing, level }) => (standing === "running" || standing === "created") && level > 1) ??
    rows[0]
  );
}

/** The question that an agent asked its parent and that nobody answered yet. */
export function openQuestion(view: View, agent: string): string | undefined {
  const letter = view.blocks.findLast(
    (block) =>
      block.kind === "letter" &&
      block.data.agent_id === agent &&
      (block.data.letter.kind === "question" || block.data.letter.kind === "answer"),
  );
  if (letter?.kind !== "letter" || letter.data.letter.kind !== "question") return undefined;
  const node = view.agents.find((known) => known.node.id === agent)?.node;
  return node !== undefined && isLive(node.state) ? letter.data.letter.text : undefined;
}

/** The event by which an agent came into being, or 0 where that is not known. */
export function beganAt(view: View, agent: string): number {
  const began = view.blocks.find(
    (block) => block.kind === "agent" && block.data.did === "began" && block.data.node.id === agent,
  );
  return began?.seq ?? 0;
}
