//! The agents below the root: who they are, how deep they stand, what they do.

import type { AgentNode, Json, NodeState, Payload } from "../proto";
import type { AgentLetter, AgentStep } from "./block";
import { type Agent, touch, type View } from "./view";
import { withoutInnerMarks } from "./words";

/** What an agent is called that is a single call of a workflow. */
export const CALL = "task";

const LIVE: readonly NodeState[] = ["created", "running", "paused"];

export const isLive = (state: NodeState) => LIVE.includes(state);

function find(view: View, id: string): Agent | undefined {
  return view.agents.find(({ node }) => node.id === id);
}

/** An agent as windows show it: its task has no marks that are there for the model alone. */
function forPeople(node: AgentNode): AgentNode {
  return { ...node, task: withoutInnerMarks(node.task) };
}

/** An agent is new or has changed: what is to be seen of that. */
export function update(view: View, { node, gone, setup }: Payload<"agent_update">): AgentStep | undefined {
  touch(view, "agents");
  const forget = () => {
    if (gone !== undefined) view.agents = view.agents.filter((agent) => !gone.includes(agent.node.id));
  };
  if (node.type === "root") {
    forget();
    return undefined;
  }
  const before = find(view, node.id)?.node.state;
  if (setup !== undefined && isInCall(setup)) view.in_calls.add(node.id);
  const parent = node.parent === undefined ? undefined : find(view, node.parent);
  const depth = parent === undefined ? 0 : parent.depth + 1;
  const known = find(view, node.id);
  if (known === undefined) view.agents.push({ depth, node: forPeople(node) });
  else Object.assign(known, { depth, node: forPeople(node) });
  forget();
  if (view.in_workflow && node.role === CALL) return undefined;
  const did = moved(node.state, before, setup !== undefined || before === undefined);
  return did && { did, depth, node: forPeople(node) };
}

function moved(state: NodeState, before: NodeState | undefined, isNew: boolean): AgentStep["did"] | undefined {
  switch (state) {
    case "created":
    case "running":
      if (isNew) return "began";
      return state === "running" && before === "paused" ? "went_on" : undefined;
    case "paused":
      return before === "paused" ? undefined : "paused";
    case "completed":
    case "failed":
    case "cancelled":
      return "ended";
  }
}

/** What is to be seen of a letter. Ends are told by the agent itself. */
export function letter(view: View, { from, to, letter }: Payload<"agent_message">): AgentLetter | undefined {
  const sender = from.kind === "agent" ? find(view, from.id) : undefined;
  let about: Agent | undefined;
  if (letter.way === "down") about = find(view, to);
  else if (letter.kind === "report" || letter.kind === "question") about = sender;
  else if (letter.kind === "stopped" && sender?.node.state === "running") about = sender;
  return about && { agent_id: about.node.id, name: about.node.name, depth: about.depth, letter };
}

/** Whether an agent that is set up so works for a call that waits for it, and for no workflow. */
function isInCall(setup: Json): boolean {
  const of = setup as { told?: unknown; workflow?: unknown };
  return of?.told === false && (of.workflow === undefined || of.workflow === null);
}
