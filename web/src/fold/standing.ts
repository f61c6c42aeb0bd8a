//! How the session stands: its settings, what its root does, what was used and how full the model's window is.

import type { AgentState, Event } from "../proto";
import { isAtWork } from "./idle";
import { add as addUsage } from "./usage";
import { type Standing, touch, type View } from "./view";

export const works = (standing: Standing) => isAtWork(standing.state) || standing.compacting;

/** Takes in the next event; `own` are the root's. What a child used counts for the session. */
export function noteStanding(view: View, event: Event, own: boolean): void {
  const { standing } = view;
  if (event.type === "usage") {
    addUsage(standing.usage, event);
    if (own) addUsage(view.own, event);
    if (own && event.aside !== undefined) addUsage(standing.aside, event);
    else if (own && event.turn_id !== undefined && !standing.model.includes("/") && event.model !== "") {
      standing.answers = event.model;
    }
    if (own && event.turn_id !== undefined) {
      const window = event.context_window ?? 0;
      const tokens = event.input + event.output;
      standing.context = window > 0 && tokens > 0 ? { tokens, window } : undefined;
    }
    touch(view, "standing");
  } else if (own && noteOwn(view, standing, event)) {
    touch(view, "standing");
  }
}

function noteOwn(view: View, standing: Standing, event: Event): boolean {
  switch (event.type) {
    case "session_start":
      standing.session_id = event.session_id;
      standing.cwd = event.cwd;
      standing.model = event.model;
      standing.mode = event.mode;
      standing.approval = event.approval;
      standing.generation = event.generation ?? 0;
      standing.sandbox = event.sandbox;
      break;
    case "files_back":
      standing.going_back = {
        since_ms: standing.going_back?.since_ms ?? view.at_ms,
        files: [event.done, event.total],
      };
      break;
    case "rewind":
      standing.going_back = undefined;
      break;
    case "state_change":
      enter(standing, event.to, view.at_ms);
      break;
    case "turn_start":
      standing.iteration = event.iteration;
      // Which model of a group answers is known once it has, and is most likely the same the next time.
      if ((standing.answers === undefined || event.model !== standing.model) && event.model !== "") {
        standing.answers = event.model;
      }
      break;
    case "mode_change":
      standing.mode = event.mode ?? standing.mode;
      standing.approval = event.approval ?? standing.approval;
      standing.generation = event.generation ?? standing.generation;
      if (event.model !== undefined) {
        standing.model = event.model;
        standing.answers = undefined;
      }
      break;
    case "side_call":
      standing.asks_aside = event.running ? event.purpose : undefined;
      break;
    case "notification":
      standing.generation = event.fitted ?? standing.generation;
      if (event.about === "compaction_begins") compact(standing, view.at_ms);
      else if (event.about === "compaction_failed") compact(standing, undefined);
      // Going back did not come to its end.
      else if (event.level === "warning") standing.going_back = undefined;
      break;
    case "compaction":
      compact(standing, undefined);
      if (standing.context !== undefined) standing.context = { ...standing.context, tokens: event.after };
      break;
    case "agent_complete":
      standing.since_ms = undefined;
      break;
    default:
      return false;
  }
  return true;
}

function compact(standing: Standing, since: number | undefined): void {
  if (isAtWork(standing.state)) return;
  standing.compacting = since !== undefined;
  standing.since_ms = since;
}

function enter(standing: Standing, state: AgentState, now: number): void {
  const worked = isAtWork(standing.state);
  standing.compacting = false;
  standing.state = state;
  if (!isAtWork(state)) standing.since_ms = undefined;
  else if (!worked) standing.since_ms = now;
}
