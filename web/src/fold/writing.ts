//! What the model writes, and its calls: words that come in pieces, messages that are whole, calls from their first letter
//! to their end.

import type { CallStatus, Message, Payload } from "../proto";
import { close } from "./asked";
import { type BlockBody, type BlockOf, isOver } from "./block";
import { add, touch, type View } from "./view";
import { textOf } from "./words";

/** Characters that are kept of what a running call prints. */
const PRINTED = 16 * 1024;

export function turn(view: View, model: string): void {
  endWords(view);
  view.streamed = false;
  view.before_turn = view.last_id;
  view.waits_for = { kind: "model", name: model };
  touch(view, "standing");
}

/** The next of the model's words, in a block of its kind. */
export function words(view: View, kind: "answer" | "thinking", text: string): void {
  view.streamed ||= kind === "answer";
  if (view.writing?.kind !== kind) {
    endWords(view);
    view.writing = add(view, { kind, data: { pieces: [], over: false } } as BlockBody) as BlockOf<
      "answer" | "thinking"
    >;
  }
  view.writing.data.pieces.push(text);
  view.writing.rev += 1;
}

/** A message of the model is whole. */
export function said(view: View, message: Message): void {
  endWords(view);
  view.waits_for = undefined;
  touch(view, "standing");
  const text = textOf(message);
  if (!view.streamed && text.trim() !== "") add(view, { kind: "answer", data: { pieces: [text], over: true } });
  view.streamed = false;
  const calls = message.parts.filter((part) => part.kind === "tool_call");
  calls.forEach((part, at) => {
    if (calls.length > 1) view.together.set(part.id, [at + 1, calls.length]);
    call(view, part.id, part.name, (call) => {
      call.data.arguments = parsed(part.arguments);
    });
  });
}

/** No more words come for what is being written. */
export function endWords(view: View): void {
  if (view.writing !== undefined) {
    view.writing.data.over = true;
    view.writing.rev += 1;
    view.writing = undefined;
  }
}

/** A model call failed; what was written of its answer may be void. */
export function breakOff(view: View, discards: boolean): void {
  if (discards) {
    view.streamed = false;
    view.blocks = view.blocks.filter((block) => {
      if (block.kind === "answer" || block.kind === "thinking") return block.id <= view.before_turn;
      if (block.kind !== "call" || block.data.status !== "validating") return true;
      view.open.delete(block.data.call_id);
      return false;
    });
    touch(view, "blocks");
    if (view.writing !== undefined && !view.blocks.includes(view.writing)) view.writing = undefined;
  }
  endWords(view);
}

export function callBegins(view: View, { call_id, name }: Payload<"stream_tool_call_start">): void {
  call(view, call_id, name, () => {});
  view.waits_for = { kind: "arguments", tool: name };
  touch(view, "standing");
}

export function callIsWritten(view: View, { call_id, partial_args }: Payload<"stream_tool_call_delta">): void {
  const found = view.open.get(call_id);
  if (found === undefined) return;
  found.data.written += bytes(partial_args);
  found.rev += 1;
}

export function callGoesOn(view: View, update: Payload<"tool_call_update">): void {
  // How it ended, its end tells.
  if (isFinal(update.status)) return;
  call(view, update.call_id, update.tool, ({ data }) => {
    data.summary = update.summary;
    data.status = update.status;
    if (update.status === "executing") data.started_ms = view.at_ms;
  });
}

export function callPrints(view: View, chunk: Payload<"tool_output_chunk">): void {
  const found = view.open.get(chunk.call_id);
  if (found === undefined || chunk.stream !== "output") return;
  found.data.printed += chunk.text;
  if (found.data.printed.length > 2 * PRINTED) found.data.printed = found.data.printed.slice(-PRINTED);
  found.rev += 1;
}

export function callEnds(view: View, end: Payload<"tool_call_end">): void {
  const background = view.work.background.delete(end.call_id);
  const seen = view.work.change_seen.delete(end.call_id);
  close(view, end.call_id);
  call(view, end.call_id, end.tool, ({ data }) => {
    if (background) data.background = true;
    if (seen) data.change_seen = true;
    data.summary = end.summary;
    data.status = end.status;
    data.printed = "";
    const { known: _, ...kept } = end;
    data.end = kept;
  });
  view.open.delete(end.call_id);
  // What was looked at is one line together once it is over.
  touch(view, "blocks");
}

/** Nobody says any more what becomes of the calls that run. */
export function endCalls(view: View): void {
  for (const call of view.open.values()) {
    call.data.status = "cancelled";
    call.rev += 1;
  }
  view.open.clear();
}

/** Changes a call, which is a new block when none of that id goes on. */
function call(view: View, id: string, tool: string, change: (call: BlockOf<"call">) => void): void {
  let found = view.open.get(id);
  if (found === undefined) {
    endWords(view);
    const data = { call_id: id, tool, summary: tool, written: 0, status: "validating" as CallStatus, printed: "" };
    found = add(view, { kind: "call", data }) as BlockOf<"call">;
    view.open.set(id, found);
  }
  change(found);
  found.rev += 1;
  if (isOver(found.data)) view.open.delete(id);
}

const isFinal = (status: CallStatus) => status === "success" || status === "error" || status === "cancelled";

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const encoder = new TextEncoder();

const bytes = (text: string) => encoder.encode(text).length;
