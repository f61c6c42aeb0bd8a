//! What a person runs, as the agent is told of it: the same in every window.

import { clean, RAN } from "../fold";

/** Characters of a command's output that the model is told. */
export const MOST = 16 * 1024;

/** In a fence that is longer than any inside, so that nothing in it can leave it. */
export function fenced(text: string): string {
  const longest = text
    .split("\n")
    .map((line) => /^\s*(`*)/.exec(line)?.[1]?.length ?? 0)
    .reduce((most, ticks) => Math.max(most, ticks), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** A message with what the person ran since the last one behind it, each in a fence. */
export function withWhatRan(message: string, ran: readonly string[]): string {
  return ran.length === 0 ? message : `${message}${RAN}${ran.join("\n\n")}`;
}

/** What is told of a command: the end of what it printed, and how it ended. */
export function toldOf(command: string, printed: string, ended: string): string {
  const text = clean(printed);
  const mark = text.length > MOST ? "…\n" : "";
  return `$ ${command}\n${mark}${text.slice(-MOST).trimEnd()}\n${ended}`.trimEnd();
}
