//! The commands of a session as they are listed: those that calls run, and what became of those in the background.

import type { Run } from "../fold";
import type { BackgroundCommand } from "../proto";
import type { Ends } from "../shell";
import type { ShellLine } from "../wire";

export type Listed = {
  key: string;
  command: string;
  /** The agent that ran it; nobody where the person did. */
  agent_id?: string;
  began_ms: number;
  took_ms?: number | undefined;
  ends: Ends;
  run?: Run;
  background?: BackgroundCommand;
  own?: ShellLine;
};

/** All commands, the newest first. */
export function listed(
  runs: Iterable<Run>,
  background: readonly BackgroundCommand[],
  own: readonly ShellLine[] = [],
): Listed[] {
  const all = [...ofAgents(runs, background), ...own.map(ofPerson)];
  return all.sort((one, other) => other.began_ms - one.began_ms);
}

function ofPerson(own: ShellLine): Listed {
  const { key, command, began_ms, end } = own;
  return { key, command, began_ms, took_ms: end?.took_ms, ends: end ?? { kind: "running" }, own };
}

function ofAgents(runs: Iterable<Run>, background: readonly BackgroundCommand[]): Listed[] {
  const left = new Map(background.map((one) => [`${one.agent_id} ${one.name}`, one]));
  const all: Listed[] = [];
  for (const run of runs) {
    const { display } = run.end ?? {};
    const name = display?.kind === "terminal" ? display.background : undefined;
    const found = name == null ? undefined : left.get(`${run.agent_id} ${name}`);
    if (found !== undefined) left.delete(`${run.agent_id} ${name}`);
    all.push({
      key: run.call_id,
      command: run.command,
      agent_id: run.agent_id,
      began_ms: run.started_ms,
      ...(found === undefined
        ? { took_ms: name == null ? run.end?.duration_ms : undefined, ends: endOf(run, name) }
        : { took_ms: found.ended?.took_ms, ends: endOfBackground(found), background: found }),
      run,
    });
  }
  // What is known of these is only that they are there: their calls are of before the log begins here.
  for (const one of left.values()) {
    all.push({
      key: `${one.agent_id}.${one.name}`,
      command: one.command,
      agent_id: one.agent_id,
      began_ms: Date.parse(one.started),
      took_ms: one.ended?.took_ms,
      ends: endOfBackground(one),
      background: one,
    });
  }
  return all;
}

function endOfBackground({ ended }: BackgroundCommand): Ends {
  if (ended == null) return { kind: "running" };
  return ended.exit_code == null ? { kind: "killed" } : { kind: "exit", code: ended.exit_code };
}

function endOf({ end, lost }: Run, background: string | null | undefined): Ends {
  if (end === undefined) return { kind: lost ? "lost" : "running" };
  // Nobody knows it any more: who held it is gone.
  if (background != null) return { kind: "lost" };
  if (end.status === "cancelled") return { kind: "stopped" };
  if (end.display?.kind !== "terminal") return { kind: end.status === "error" ? "refused" : "failed" };
  return end.display.exit_code == null ? { kind: "killed" } : { kind: "exit", code: end.display.exit_code };
}

export const isRunning = ({ ends }: Listed) => ends.kind === "running";
