//! What a person says: messages that wait, that are read, and that are withdrawn.

import type { Message, Payload } from "../proto";
import type { BlockOf, Said } from "./block";
import { add, touch, type View } from "./view";
import { isNeco, textOf } from "./words";
import { endWords } from "./writing";

export function queued(view: View, { when, message }: Payload<"message_queued">): void {
  const there = waiting(view, message.id);
  if (there !== undefined) {
    there.data.waits = when;
    there.rev += 1;
  } else if (!isNeco(message)) {
    // What Neco says in the person's place is for the model.
    added(view, { ...saidIn(message), waits: when });
  }
  touch(view, "said");
}

export function admitted(view: View, message: Message): void {
  const there = waiting(view, message.id);
  if (there !== undefined) {
    delete there.data.waits;
    there.data.read = view.seq;
    there.rev += 1;
  } else if (!isNeco(message)) {
    endWords(view);
    added(view, saidIn(message));
  }
  touch(view, "said");
}

/** A message that a hook blocked is never read. */
export function blocked(view: View, run: Payload<"hook_run">): void {
  if (run.outcome !== "blocked" && run.outcome !== "stopped") return;
  const there = run.message_id === undefined ? undefined : waiting(view, run.message_id);
  if (there?.data.waits === undefined) return;
  there.data.waits = "withdrawn";
  there.rev += 1;
  touch(view, "said");
}

function waiting(view: View, id: string): BlockOf<"message"> | undefined {
  return view.messages.get(id);
}

function added(view: View, data: Said): void {
  view.messages.set(data.message_id, add(view, { kind: "message", data }) as BlockOf<"message">);
}

function saidIn(message: Message): Said {
  const pictures = message.parts.filter((part) => part.kind === "image").length;
  return { message_id: message.id, text: textOf(message), ...(pictures > 0 && { pictures }) };
}
