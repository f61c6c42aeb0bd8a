//! Commands that agents of a session run, whoever of them does: what each prints, and how it ended.

import type { Event, Json, Payload } from "../proto";
import { touch, type View } from "./view";

/** The tool that runs commands. */
const SHELL = "bash";

/** Characters that are kept of what a running command prints. */
const PRINTED = 64 * 1024;

export type Run = {
  call_id: string;
  agent_id: string;
  /** The command line, as far as it is known. */
  command: string;
  started_ms: number;
  printed: string;
  end?: Omit<Payload<"tool_call_end">, "known">;
  /** The event that told of its end. */
  end_seq?: number;
  /** Whoever ran it ended without telling how it did. */
  lost?: true;
};

/** Takes in what an event tells of commands. */
export function noteRuns(view: View, event: Event): void {
  switch (event.type) {
    case "message":
      for (const part of event.parts) {
        if (part.kind === "tool_call" && part.name === SHELL) noteCommand(view, part.id, parsed(part.arguments));
      }
      return;
    case "permission_decision":
      if (event.decision.kind === "edit" && view.commands.has(event.call_id)) {
        noteCommand(view, event.call_id, event.decision.arguments);
      }
      return;
    case "tool_call_update": {
      if (event.tool !== SHELL || event.status !== "executing" || view.runs.has(event.call_id)) return;
      add(view, event.call_id, event.agent_id, event.summary);
      break;
    }
    case "tool_output_chunk": {
      const run = view.runs.get(event.call_id);
      if (run === undefined) return;
      run.printed += event.text;
      if (run.printed.length > 2 * PRINTED) run.printed = run.printed.slice(-PRINTED);
      break;
    }
    case "tool_call_end": {
      view.commands.delete(event.call_id);
      const display = event.display?.kind === "terminal" ? event.display : undefined;
      let run = view.runs.get(event.call_id);
      if (run === undefined) {
        if (event.tool !== SHELL || display === undefined) return;
        run = add(view, event.call_id, event.agent_id, event.summary);
      }
      run.command = display?.command ?? run.command;
      run.printed = "";
      run.end = event;
      run.end_seq = event.seq;
      break;
    }
    case "agent_complete":
      lose(view, event.agent_id);
      break;
    case "session_start":
      // What another process ran ended with it.
      lose(view, undefined);
      break;
    default:
      return;
  }
  touch(view, "runs");
}

function lose(view: View, agent: string | undefined): void {
  for (const run of view.runs.values()) {
    if (run.end === undefined && (agent === undefined || run.agent_id === agent)) run.lost = true;
  }
}

function add(view: View, call_id: string, agent_id: string, summary: string): Run {
  const command = view.commands.get(call_id) ?? summary;
  const run: Run = { call_id, agent_id, command, started_ms: view.at_ms, printed: "" };
  view.runs.set(call_id, run);
  return run;
}

function noteCommand(view: View, call: string, given: Json): void {
  if (typeof given === "object" && given !== null && "command" in given && typeof given.command === "string") {
    view.commands.set(call, given.command);
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
