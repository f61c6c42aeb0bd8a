//! What each agent does and did over time: it worked, it waited, it waited for the person.

import type { Event, NodeState } from "../proto";
import { noteDeed } from "./deeds";
import { type Activity, type Lane, touch, type View } from "./view";

/** Changes that are kept of an agent. */
const KEPT = 256;

/** The tool that waits for other agents. */
const WAIT = "agent_wait";

const LANES: Record<NodeState, Lane> = {
  running: "works",
  created: "waits",
  paused: "waits",
  completed: "ended",
  failed: "ended",
  cancelled: "ended",
};

function of(view: View, agent: string): Activity {
  view.activity[agent] ??= { asks: [], lanes: [], deeds: [], open: new Map() };
  return view.activity[agent];
}

/** Takes in what an event tells of what an agent does. */
export function noteActivity(view: View, event: Event): void {
  let agent = event.agent_id;
  let lane: Lane | undefined;
  switch (event.type) {
    case "agent_update": {
      for (const gone of event.gone ?? []) delete view.activity[gone];
      const activity = of(view, event.node.id);
      const before = activity.state;
      activity.state = event.node.state;
      // What a node used is told often, and is no change of what it does.
      if (before === event.node.state) return;
      agent = event.node.id;
      lane = LANES[event.node.state];
      if (lane === "ended") noteDeed(activity, event, view.at_ms);
      break;
    }
    case "message":
      if (event.model !== undefined) of(view, agent).model = event.model;
      return;
    case "turn_start":
    case "tool_call_update":
    case "tool_call_end":
    case "permission_request":
    case "permission_decision":
    case "question":
    case "question_answer":
    case "agent_complete":
      noteDeed(of(view, agent), event, view.at_ms);
      lane = applied(of(view, agent), event);
      break;
    default:
      return;
  }
  if (lane !== undefined) enter(of(view, agent), lane, view.at_ms);
  touch(view, "agents");
}

/** How an agent spends its time from now on, where the event tells. */
function applied(activity: Activity, event: Event): Lane | undefined {
  const ask = (id: string) => activity.asks.push({ id, since_ms: Date.parse(event.ts) });
  const answered = (id: string) => {
    activity.asks = activity.asks.filter((ask) => ask.id !== id);
  };
  switch (event.type) {
    case "turn_start":
      activity.does = { kind: "thinks" };
      activity.asks = [];
      break;
    case "tool_call_update":
      activity.does = { kind: "calls", summary: event.summary };
      return event.tool === WAIT && event.status === "executing" ? "waits" : undefined;
    case "permission_request":
      activity.does = { kind: "wants", summary: event.summary };
      ask(event.call_id);
      break;
    case "question":
      activity.does = { kind: "asks" };
      ask(event.question_id);
      break;
    case "permission_decision":
    case "tool_call_end":
      answered(event.call_id);
      break;
    case "question_answer":
      answered(event.question_id);
      break;
    case "agent_complete":
      activity.does = undefined;
      activity.asks = [];
      return "waits";
    default:
      return undefined;
  }
  return "works";
}

function enter(activity: Activity, wanted: Lane, now: number): void {
  // Whoever has asked several things waits until all are answered.
  const lane = wanted === "works" && activity.asks.length > 0 ? "asks" : wanted;
  const last = activity.lanes.at(-1)?.[1];
  // Who has ended does nothing until it is given something else to do.
  const isNew = last === undefined || (last === "ended" ? lane === "works" : last !== lane);
  if (!isNew) return;
  activity.lanes.push([now, lane]);
  if (activity.lanes.length > KEPT) activity.lanes.splice(0, activity.lanes.length - KEPT);
}
