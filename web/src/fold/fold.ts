//! Takes events into a view: one pure function of the events that came before, for all that is drawn.

import type { Event, Payload } from "../proto";
import { noteActivity } from "./activity";
import { letter, update } from "./agents";
import * as asked from "./asked";
import { type BlockBody, PLAIN, type PlainKind } from "./block";
import { noteRewind, noteSaid, wentBack } from "./counting";
import { noteIdle } from "./idle";
import { counts, effective } from "./rewinds";
import { noteRuns } from "./runs";
import * as said from "./said";
import { noteStanding } from "./standing";
import { add, touch, type View } from "./view";
import { complete, noteWork } from "./work";
import { updateWorkflow } from "./workflows";
import * as writing from "./writing";

/** Takes the next events in, in order. */
export function fold(view: View, events: readonly Event[]): View {
  for (const event of events) take(view, event);
  return view;
}

function take(view: View, event: Event): void {
  if (event.type === "session_start") view.root = event.agent_id;
  view.seq = event.seq;
  view.at_ms = Date.parse(event.ts);
  const own = view.root === undefined || view.root === event.agent_id;
  noteIdle(view, event, own);
  noteWork(view, event, own);
  noteStanding(view, event, own);
  noteActivity(view, event);
  noteRuns(view, event);
  if (own && event.type === "turn_start") {
    view.turns += 1;
    view.since_turn.clear();
  }
  if (own && event.type === "message") {
    view.since_turn.add(event.id);
    noteSaid(view, event);
  }
  const agent = own ? undefined : event.agent_id;
  switch (event.type) {
    case "agent_update":
      some(view, "agent", update(view, event));
      break;
    case "agent_message":
      some(view, "letter", letter(view, event));
      break;
    case "stop":
      plain(view, event);
      break;
    case "workflow_update":
      view.in_workflow = true;
      some(view, "workflow", updateWorkflow(view, payload(event)));
      break;
    // Whoever is asked sees it, whoever asks.
    case "permission_request":
      asked.approval(view, agent, payload(event));
      break;
    case "permission_decision":
      asked.decided(view, event);
      break;
    case "question":
      asked.question(view, agent, payload(event));
      break;
    case "question_answer":
      asked.answered(view, event);
      break;
    case "notification":
      // So does whoever is to know what acts later, whoever changed it.
      if (own || event.changed !== undefined) plain(view, event);
      break;
    case "checkpoint":
      return keep(view, event);
    case "rewind":
      if (own) rewound(view, event);
      else noteRewind(view, event.seq, event);
      break;
    case "tool_call_end":
      if (own) {
        writing.callEnds(view, payload(event));
      } else {
        // A call that is stopped while it is asked about ends without a decision.
        view.work.background.delete(event.call_id);
        view.work.change_seen.delete(event.call_id);
        asked.close(view, event.call_id);
      }
      break;
    default:
      if (own) takeOwn(view, event);
  }
}

/** What the root does. */
function takeOwn(view: View, event: Event): void {
  switch (event.type) {
    case "turn_start":
      return writing.turn(view, event.model);
    case "stream_chunk":
      return writing.words(view, "answer", event.text);
    case "reasoning_chunk":
      return writing.words(view, "thinking", event.text);
    case "stream_tool_call_start":
      return writing.callBegins(view, event);
    case "stream_tool_call_delta":
      return writing.callIsWritten(view, event);
    case "tool_call_update":
      return writing.callGoesOn(view, event);
    case "tool_output_chunk":
      return writing.callPrints(view, event);
    case "model_retry":
    case "model_switch":
      writing.breakOff(view, event.discards);
      return plain(view, event);
    case "hook_run":
      if (event.outcome === "passed" && event.message === undefined) return;
      said.blocked(view, event);
      return plain(view, event);
    case "todo_update":
      view.todos = event.todos;
      touch(view, "todo");
      add(view, { kind: "todos", data: { todos: event.todos } });
      return;
    case "plan_update":
      return planned(view, event);
    case "message_queued":
      return said.queued(view, event);
    case "message":
      if (event.role === "user") said.admitted(view, event);
      else if (event.role === "assistant") writing.said(view, event);
      return;
    case "rules_told":
      // Of what was not read a notification told.
      if (event.files.length > 0) plain(view, event);
      return;
    case "title":
      view.title = event.title;
      return touch(view, "standing");
    case "error":
      writing.endWords(view);
      return plain(view, event);
    case "agent_complete":
      writing.endWords(view);
      writing.endCalls(view);
      view.waits_for = undefined;
      add(view, { kind: "end", data: complete(view, event) });
      return touch(view, "standing");
    case "session_start":
    case "mode_change":
    case "skill_used":
    case "pieces_given":
    case "compaction":
    case "imported":
      return plain(view, event);
    case "state_change":
    case "shared_state":
    case "memory_update":
    case "usage":
    case "environment":
    case "ide_context":
    case "context_trim":
    case "checkpoint":
    case "files_back":
    case "side_call":
    case "turn_end":
    case "notification":
    case "rewind":
    case "permission_request":
    case "permission_decision":
    case "question":
    case "question_answer":
    case "agent_update":
    case "agent_message":
    case "stop":
    case "workflow_update":
    case "tool_call_end":
      return;
    default:
      unknown(view, event);
  }
}

function keep(view: View, { rev, when, label, changed, more }: Payload<"checkpoint">): void {
  // The same state may be kept again: it is listed where it was last.
  view.checkpoints = view.checkpoints.filter((kept) => kept.rev !== rev);
  view.checkpoints.push({ rev, at_ms: view.at_ms, when, label, changed: (changed?.length ?? 0) + (more ?? 0) });
  touch(view, "changes");
}

/** An event of a type that is not known changes nothing; a type that is forgotten above is no program. */
function unknown(view: View, _: never): void {
  view.unknown += 1;
}

/** What an event holds besides what every event has. */
function payload<E extends Event>(event: E): Payload<E["type"]> {
  const {
    seq: _seq,
    ts: _ts,
    session_id: _session,
    agent_id: _agent,
    turn_id: _turn,
    needs: _needs,
    type: _type,
    ...rest
  } = event;
  return rest as unknown as Payload<E["type"]>;
}

function plain(view: View, event: Event & { type: PlainKind }): void {
  add(view, { kind: event.type, data: payload(event) } as BlockBody);
}

function some<K extends BlockBody["kind"]>(view: View, kind: K, data: unknown): void {
  if (data !== undefined) add(view, { kind, data } as BlockBody);
}

function rewound(view: View, event: Event & { type: "rewind" }): void {
  const data = wentBack(view, event.seq, payload(event));
  if (event.conversation) {
    const ranges = effective(view.counting.rewinds, event.seq);
    for (const block of view.blocks) {
      const from = block.kind === "message" ? (block.data.read ?? block.seq) : block.seq;
      const isVoid = !counts(ranges, from);
      if (isVoid === (block.void === true)) continue;
      if (isVoid) block.void = true;
      else delete block.void;
      block.rev += 1;
    }
  }
  add(view, { kind: "rewind", data });
  touch(view, "changes");
}

function planned(view: View, event: Event & { type: "plan_update" }): void {
  const findings = event.findings ?? [];
  const found = findings.slice(view.findings.length);
  view.plan = event.plan;
  view.findings = findings;
  touch(view, "todo");
  add(view, { kind: "plan", data: { ...(event.plan && { plan: event.plan }), ...(found.length > 0 && { found }) } });
}

/** The kinds of events that are blocks as they are, for whoever draws them. */
export const isPlain = (kind: BlockBody["kind"]): kind is PlainKind => (PLAIN as readonly string[]).includes(kind);
