//! Which of what was said counts, after going back and taking that back.

import type { Event, Payload } from "../proto";
import type { WentBack } from "./block";
import { counts, effective } from "./rewinds";
import type { View } from "./view";
import { cleanLine, isNeco, textOf, written } from "./words";

/** Characters of a message that name it. */
const WORDS = 40;

/** Takes note of what the person said to the root. */
export function noteSaid(view: View, event: Event & { type: "message" }): void {
  if (event.role !== "user" || isNeco(event)) return;
  view.counting.said.push({ seq: event.seq, id: event.id, words: firstWords(written(textOf(event))) });
}

/** Takes in that an agent went back; for the root, what that did to what was said. */
export function wentBack(view: View, seq: number, rewind: Payload<"rewind">): WentBack {
  const { said, rewinds, undos } = view.counting;
  const before = effective(rewinds, seq - 1);
  noteRewind(view, seq, rewind);
  const after = effective(rewinds, seq);
  const gone = said.filter((it) => counts(before, it.seq) && !counts(after, it.seq)).map((it) => it.words);
  const again = said.filter((it) => counts(after, it.seq) && !counts(before, it.seq)).map((it) => it.words);
  const message = said.find((it) => it.id === rewind.message_id);
  const undoes = rewind.undoes;
  const redo = undoes !== undefined && undos.has(undoes);
  if (undoes !== undefined && !redo) undos.add(seq);
  return {
    ...rewind,
    ...(message && { before: message.words }),
    ...(gone.length > 0 && { gone }),
    ...(again.length > 0 && { again }),
    ...(message !== undefined &&
      rewind.to >= message.seq &&
      undoes === undefined &&
      rewind.reverted === undefined && { named: true }),
    ...(redo && { redo }),
  };
}

export function noteRewind(view: View, seq: number, rewind: Payload<"rewind">): void {
  if (rewind.conversation) view.counting.rewinds.push([seq, rewind.to]);
  if (rewind.files !== undefined) view.counting.files.push([seq, rewind.to]);
}

function firstWords(text: string): string {
  const line = cleanLine(text);
  const cut = [...line].slice(0, WORDS).join("");
  return cut.length < line.length ? `${cut}…` : cut;
}
