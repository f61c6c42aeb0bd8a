//! Whether a session has come to rest: its root is done, nobody below it works, and nothing is on its way that would let
//! the root go on. It follows from the events alone, so every window comes to the same.

import type { AgentState, Event, NodeState } from "../proto";
import type { Idle, View } from "./view";
import { isNeco } from "./words";

const AT_WORK: readonly AgentState[] = [
  "streaming",
  "tool_pending",
  "awaiting_approval",
  "tool_executing",
  "tool_result_ready",
];

export const isAtWork = (state: AgentState) => AT_WORK.includes(state);

export function noteIdle(view: View, event: Event, own: boolean): void {
  const { idle } = view;
  switch (event.type) {
    case "agent_update":
      for (const agent of [...(event.gone ?? []), event.node.id]) idle.working.delete(agent);
      if (event.node.state === "created" || event.node.state === "running") idle.working.add(event.node.id);
      break;
    case "agent_message":
      if (event.to === view.root && wakes(event)) idle.letters.add(event.message_id);
      break;
    case "state_change":
      if (own && isAtWork(event.to)) idle.done = undefined;
      break;
    case "agent_complete":
      if (own) idle.done = event.reason === "natural" || event.reason === "iteration_limit";
      break;
    case "message":
      if (own && event.role === "user") {
        const heard = idle.letters.delete(event.id);
        if (heard || !isNeco(event)) idle.done = undefined;
        idle.stopped &&= isNeco(event);
      }
      break;
    case "stop":
      idle.stopped = true;
      break;
    case "message_queued":
      if (own && event.when !== "withdrawn") idle.done = undefined;
      break;
    default:
      return;
  }
  view.over = isAtRest(idle);
}

/** How the work of the whole session stands, also where its root is done: nothing where all of it is. */
export function workOf(view: View): "running" | "paused" | undefined {
  if (!view.over && view.standing.since_ms !== undefined) return "running";
  if (view.idle.stopped) return undefined;
  const is = (...states: NodeState[]) => view.agents.some(({ node }) => states.includes(node.state));
  if (is("created", "running")) return "running";
  return is("paused") ? "paused" : undefined;
}

function isAtRest(idle: Idle): boolean {
  if (idle.done === undefined) return false;
  if (idle.stopped || !idle.done) return true;
  return idle.working.size === 0 && idle.letters.size === 0;
}

function wakes({ letter }: Event & { type: "agent_message" }): boolean {
  if (letter.way === "up" && letter.kind === "report") return false;
  return !(letter.way === "up" && letter.kind === "stopped" && letter.quiet === true);
}
