//! How a call is told in one line: a verb, and what it is done to.

import type { Call } from "../fold";
import type { Words } from "../words";

export type Verb = keyof Words["call"]["verbs"];

type Told = { verb: Verb; object?: string };

/** Tools that only look, which are told together. */
const LOOKS: Record<string, "read" | "list" | "search" | "other"> = {
  read_file: "read",
  list_directory: "list",
  glob: "search",
  grep: "search",
  code_search: "search",
  code_index: "other",
  agent_status: "other",
  memory_search: "other",
  memory_get: "other",
  state_get: "other",
};

const TOLD: Record<string, { verb: Verb; object: readonly string[] }> = {
  read_file: { verb: "read", object: ["path"] },
  list_directory: { verb: "list", object: ["path"] },
  glob: { verb: "search", object: ["pattern"] },
  grep: { verb: "search", object: ["pattern"] },
  code_search: { verb: "search", object: ["query"] },
  web_search: { verb: "search", object: ["query"] },
  memory_search: { verb: "recall", object: ["query"] },
  memory_store: { verb: "remember", object: ["title"] },
  edit_file: { verb: "edit", object: ["path"] },
  apply_patch: { verb: "edit", object: [] },
  write_file: { verb: "write", object: ["path"] },
  delete_file: { verb: "delete", object: ["path"] },
  bash: { verb: "run", object: ["command"] },
  web_fetch: { verb: "fetch", object: ["url"] },
  diagnostics: { verb: "check", object: ["path", "paths"] },
  task: { verb: "start", object: ["description", "role"] },
  spawn_agent: { verb: "start", object: ["role", "name"] },
};

export const looks = (tool: string) => LOOKS[tool];

/** What a call does, by its tool and arguments; its own line where the tool is none that is known here. */
export function told(call: Call): Told {
  const known = TOLD[call.tool];
  const isPlain = call.end?.origin === undefined || call.end.origin.kind === "built_in";
  if (known === undefined || !isPlain) return { verb: "use", object: call.summary };
  const given = call.arguments;
  const path =
    call.end?.display?.kind === "diff" ? call.end.display.files.map((file) => file.path).join(", ") : undefined;
  const object = known.object.length === 0 ? path : known.object.map((name) => field(given, name)).find(Boolean);
  return object === undefined ? { verb: known.verb } : { verb: known.verb, object };
}

function field(given: unknown, name: string): string | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const value = (given as Record<string, unknown>)[name];
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.join(" ") : undefined;
}

/** What a tool is for, of all that models are told of it: the first paragraph, without line ends. */
export function purposeOf(tool: string, description: string): string {
  const [first = ""] = description.trim().split(/\n\s*\n/, 1);
  return `${tool}: ${first.replaceAll(/\s+/g, " ")}`;
}
