//! Texts as the log has them, read the way people are to see them.

import type { Message } from "../proto";

/** What stands between what a person wrote and what they ran before it and send along, in every window. */
export const RAN = "\n\nI ran this myself:\n\n";

/** What stands between what a person wrote and what was sent along. */
const ALONG = [
  "\n\nWhat stands in the files that I name:\n\n",
  RAN,
  "\n\nThat is a prompt of an MCP server. It says:\n\n",
  "\n\nThis is piped in:\n\n",
];

/** What a person wrote of a text, without what was sent along. */
export function written(text: string): string {
  const ends = ALONG.map((mark) => text.indexOf(mark)).filter((at) => at >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

/** Whether Neco or a hook says it in the person's place. */
export function isNeco(message: Message): boolean {
  if (message.role !== "user") return false;
  if (message.author !== undefined) return message.author !== "person";
  const first = message.parts[0];
  if (first?.kind !== "text") return false;
  const line = first.text.split("\n", 1)[0] ?? "";
  return (
    first.text.startsWith("[Neco]") || (line.startsWith("[") && (line.endsWith(" hook]") || line.includes(" hook: ")))
  );
}

export function textOf(message: Message): string {
  return message.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const SEQUENCES = /\x1b(?:\[[^@-~\n]*[@-~]|[\]PX^_][^\x07\x1b\n\x9c]*(?:\x07|\x1b\\|\x9c)?|[ -/]*[^\n])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** A text without what would steer a terminal; line ends and tabs stay. */
export function clean(text: string): string {
  return text.replace(SEQUENCES, "").replace(CONTROL, "");
}

/** The same in one line. */
export function cleanLine(text: string): string {
  return clean(text).split(/\s+/u).filter(Boolean).join(" ");
}

/** What a tool gave, without the marks around text from outside, which are there for the model alone. */
export function withoutMarks(text: string): string {
  if (!text.includes("untrusted-")) return text;
  const isMark = (line: string) => /^<\/?untrusted-.*>$/.test(line);
  return text
    .split(/(?<=\n)/)
    .filter((line) => !isMark(line.replace(/[\r\n]+$/, "")))
    .join("");
}

/** The same wherever in a line they stand. */
export function withoutInnerMarks(text: string): string {
  return text.replace(/<\/?untrusted-[0-9a-fA-F]{6}(?: source="[^>\n]*)?>/g, "");
}
