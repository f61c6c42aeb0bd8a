//! What is followed, as components have it: each is drawn again when its slice has changed, and only then.

import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { Block, Slice, View } from "../fold";
import type { SessionRow } from "../proto";
import { AgentLog } from "./agent";
import { Line, type LineState } from "./line";
import { Rows } from "./rows";
import { LiveSession, type Outgoing } from "./session";
import { Shell } from "./shell";

/** Sessions that are kept folded although nobody draws them. */
const KEPT = 6;

/** The way to the server, and what is known by it. */
export class Wire {
  readonly line = new Line();
  readonly rows = new Rows(this.line, (row) => this.#sessions.get(row.id)?.known(row) ?? row);
  #sessions = new Map<string, LiveSession>();
  #shells = new Map<string, Shell>();

  session(id: string): LiveSession {
    const session = this.#sessions.get(id) ?? new LiveSession(id, this.line, () => this.rows.soon(), this.shell(id));
    // The one used last is the last to go.
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > KEPT && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }

  /** What the person runs in a session; it goes on where nobody looks. */
  shell(id: string): Shell {
    const shell = this.#shells.get(id) ?? new Shell(id, this.line);
    this.#shells.set(id, shell);
    return shell;
  }
}

export const WireContext = createContext<Wire | undefined>(undefined);

export function useWire(): Wire {
  const wire = useContext(WireContext);
  if (wire === undefined) throw new Error("there is no way to the server here");
  return wire;
}

export function useLine(): LineState {
  const { line } = useWire();
  return useSyncExternalStore(line.subscribe, () => line.state);
}

export const useIsLive = (): boolean => useLine().kind === "live";

export function useRows(): readonly SessionRow[] | undefined {
  const { rows } = useWire();
  return useSyncExternalStore(rows.subscribe, () => rows.sessions);
}

export const SessionContext = createContext<LiveSession | undefined>(undefined);

/** The session that is shown around here. */
export function useSession(): LiveSession {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("there is no session here");
  return session;
}

/** What the person runs in the session around here, drawn again whenever that stands otherwise. */
export function useShell(): Shell {
  const shell = useWire().shell(useSession().id);
  useSyncExternalStore(shell.subscribe, () => shell.lines);
  return shell;
}

/** Follows a session as long as this is drawn. */
export function useFollowed(id: string): LiveSession {
  const wire = useWire();
  const [session, setSession] = useState(() => wire.session(id));
  if (session.id !== id) setSession(wire.session(id));
  useEffect(() => session.use(), [session]);
  return session;
}

/** Follows what one agent of the session around here says and does, from an event before all of it. */
export function useAgentLog(agent: string, since: number): LiveSession {
  const { id } = useSession();
  const { line } = useWire();
  const log = useMemo(() => new AgentLog(id, agent, since, line), [id, agent, since, line]);
  useEffect(() => log.use(), [log]);
  return log;
}

/** The view of the session, drawn again whenever one of these slices has changed. */
export function useSlices(...slices: Slice[]): View {
  const session = useSession();
  useSyncExternalStore(session.subscribe, () => slices.map((slice) => session.rev(slice)).join());
  return session.view;
}

/** Draws again when a block has changed. */
export function useBlock(block: Block): number {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => block.rev);
}

export function useIsOpen(): boolean {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.isOpen);
}

export function useEnded(): string | undefined {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.ended);
}

export function useOutgoing(): readonly Outgoing[] {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.outgoing);
}

/** The last event that was taken in. */
export function useSeq(): number {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.view.seq);
}
