//! What the work adds up to: what was refused, what runs on, what was used, who answered.

import type { Event, Json, Payload } from "../proto";
import type { WorkEnd } from "./block";
import { add as addUsage, noUsage, read } from "./usage";
import { touch, type View } from "./view";

/** What `bash` says of a command that runs on. */
const RUNS_ON = /\[runs in the background as ([^\]]*)\]/;

/** The tool that hands a plan in: a plan that is sent back or dropped was looked at, which is no refusal. */
const EXIT_PLAN_MODE = "exit_plan_mode";

/** The codes of calls that were refused: by policy, by a guard of commands, by the person, for their path. */
export const REFUSED: readonly number[] = [1003, 1006, 2002, 3001];

export function noteWork(view: View, event: Event, own: boolean): void {
  const { work } = view;
  switch (event.type) {
    case "turn_start":
      if (own && work.over) {
        // Other work begins.
        work.over = false;
        work.refused = [];
        work.models = [];
      }
      break;
    case "session_start":
      // What others were still at ended with the process that did it.
      if (own) work.so_far = work.began_ms = undefined;
      break;
    case "message":
      if (own && event.role === "assistant" && event.model !== undefined) {
        work.models = [...work.models.filter((model) => model !== event.model), event.model];
      }
      for (const part of event.parts) {
        if (part.kind === "tool_call") noteBackground(view, part.id, argumentsOf(part.arguments));
      }
      break;
    case "permission_request":
      if ((event.diff ?? []).length > 0) work.change_seen.add(event.call_id);
      break;
    case "permission_decision":
      if (event.decision.kind === "edit") {
        // Other arguments make another change.
        work.change_seen.delete(event.call_id);
        noteBackground(view, event.call_id, event.decision.arguments);
      }
      break;
    case "tool_call_end":
      ended(view, event);
      break;
    case "usage":
      if (!own) addUsage(work.below, event);
      break;
    default:
  }
}

function ended(view: View, end: Payload<"tool_call_end"> & { seq: number }): void {
  const { work } = view;
  if (end.error_code !== undefined && REFUSED.includes(end.error_code) && end.tool !== EXIT_PLAN_MODE) {
    work.refused.push(end.summary);
  }
  const name = RUNS_ON.exec(end.output)?.[1];
  if (name !== undefined && work.background.has(end.call_id)) work.left.push({ name, summary: end.summary });
  if (end.display?.kind === "diff" && end.status === "success") {
    for (const { path, added, removed, created, deleted } of end.display.files) {
      view.edits.push({ seq: end.seq, path, added, removed, created, deleted: deleted === true });
    }
    touch(view, "changes");
  }
}

/** The root is done; when nobody else works, that is all. Work that others had a part in took from its beginning on. */
export function complete(view: View, now: Payload<"agent_complete">): WorkEnd {
  const { work, over } = view;
  const dropped = view.plan?.status === "dropped";
  work.began_ms ??= view.at_ms - now.duration_ms;
  const before = work.so_far?.complete;
  const all = before === undefined ? { ...now } : joined(before, now);
  all.duration_ms = Math.max(all.duration_ms, view.at_ms - work.began_ms);
  const usage = read(all.usage);
  addUsage(usage, work.below);
  const end: WorkEnd = {
    reason: all.reason,
    ...(all.error_code !== undefined && { error_code: all.error_code }),
    over,
    turns: all.turns,
    duration_ms: all.duration_ms,
    waited_ms: all.waited_ms ?? 0,
    usage,
    session_usage: read(all.session_usage),
    ...(all.budget !== undefined && { budget: all.budget }),
    models: work.models,
    ...(view.standing.context && { context: view.standing.context }),
    ...(work.refused.length > 0 && { refused: [...work.refused] }),
    ...(work.left.length > 0 && { background: [...work.left] }),
    ...(dropped && { plan_dropped: true }),
  };
  if (over) {
    work.below = noUsage();
    work.over = true;
    work.began_ms = work.so_far = undefined;
  } else {
    work.so_far = { complete: all, dropped };
  }
  return end;
}

/** The end of work that went on after `before`. */
function joined(before: Payload<"agent_complete">, now: Payload<"agent_complete">): Payload<"agent_complete"> {
  const usage = read(before.usage);
  addUsage(usage, now.usage);
  return {
    ...now,
    turns: now.turns + before.turns,
    usage,
    duration_ms: now.duration_ms + before.duration_ms,
    waited_ms: (now.waited_ms ?? 0) + (before.waited_ms ?? 0),
  };
}

function noteBackground(view: View, call: string, given: Json): void {
  const wanted = typeof given === "object" && given !== null && "background" in given && given.background === true;
  if (wanted) view.work.background.add(call);
  else view.work.background.delete(call);
}

function argumentsOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
