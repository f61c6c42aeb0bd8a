//! The calls of each agent in short, for whoever draws them over time.

import type { CallStatus, Event, Payload } from "../proto";
import type { Activity, CallIs, Deed } from "./view";
import { REFUSED } from "./work";

/** Calls that are kept of an agent; when there are twice as many, the oldest go. */
const KEPT = 2_000;

const GOES_ON: Record<CallStatus, CallIs | undefined> = {
  validating: "waits",
  scheduled: "waits",
  awaiting_approval: "asks",
  executing: "runs",
  // How it ended, its end tells.
  success: undefined,
  error: undefined,
  cancelled: undefined,
};

/** Takes in what an event tells of a call of an agent. */
export function noteDeed(activity: Activity, event: Event, now: number): void {
  switch (event.type) {
    case "tool_call_update": {
      const is = GOES_ON[event.status];
      if (is !== undefined) Object.assign(deedOf(activity, event.call_id, now), { is, summary: event.summary });
      break;
    }
    case "tool_call_end":
      Object.assign(deedOf(activity, event.call_id, now), { is: endOf(event), summary: event.summary });
      activity.open.delete(event.call_id);
      break;
    case "agent_complete":
    case "agent_update":
      for (const deed of activity.open.values()) deed.is = "off";
      activity.open.clear();
      break;
    default:
  }
}

function deedOf(activity: Activity, id: string, now: number): Deed {
  const known = activity.open.get(id);
  if (known !== undefined) return known;
  const deed: Deed = { at_ms: now, summary: "", is: "waits" };
  activity.deeds.push(deed);
  activity.open.set(id, deed);
  if (activity.deeds.length > 2 * KEPT) activity.deeds.splice(0, KEPT);
  return deed;
}

function endOf({ status, error_code, display }: Payload<"tool_call_end">): CallIs {
  if (status === "cancelled" || (error_code !== undefined && REFUSED.includes(error_code))) return "off";
  // A command that failed was run as it should: to the person it failed all the same.
  const exit = display?.kind === "terminal" ? (display.exit_code ?? 0) : 0;
  return status === "error" || exit !== 0 ? "failed" : "done";
}
