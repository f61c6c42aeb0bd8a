//! The one WebSocket of a tab: said hello to, watched, and made again when it dies; what is followed goes on after the
//! last event that came.

import type { Event, SessionSnapshot } from "../proto";
import { pause } from "./backoff";
import { get, Problem, tabToken, unreachable } from "./http";

/** How long until the other side must have welcomed us. */
const HANDSHAKE = 5_000;

/** How often something is asked, so that silence means something. */
const ASK_EVERY = 10_000;

/** How much silence is a dead connection. */
const DEAD_AFTER = 25_000;

/** How long an answer may take when somebody comes back to a page that slept. */
const SOON = 5_000;

export type LineState =
  | { kind: "connecting"; tried: number }
  | { kind: "live" }
  | { kind: "lost"; since_ms: number; tried: number }
  | { kind: "denied" };

/** What is heard of one session that is followed. */
export type Follower = {
  /** The last event that was taken in. */
  since: () => number;
  event: (event: Event) => void;
  /** The stream ended: the session is gone, or can't be had. */
  ended: (why: string | undefined) => void;
  /** How the session stands, told whenever a stream begins. */
  snapshot: (snapshot: SessionSnapshot) => void;
};

/** What is heard of a call whose answer comes bit by bit. */
export type Watcher<T> = {
  item: (item: T) => unknown;
  /** It is over: all of it came, or something went wrong. */
  ended: (problem: Problem | undefined) => unknown;
};

type Says = Record<string, unknown>;

type Waiting = { session: string; follower: Follower; is: "events" | "snapshot" };

export class Line {
  #socket: WebSocket | undefined;
  #state: LineState = { kind: "connecting", tried: 0 };
  #listeners = new Set<() => void>();
  /** Who follows which session: one is followed by several who take different things of it. */
  #followed = new Map<Follower, string>();
  #waiting = new Map<number, Waiting>();
  #called = new Map<number, (answer: unknown) => void>();
  #watched = new Map<number, Watcher<unknown>>();
  #next = 1;
  #tried = 0;
  #lost_ms: number | undefined;
  #heard = 0;
  #timers: { again?: number; ask?: number; welcome?: number; soon?: number } = {};

  get state(): LineState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    addEventListener("online", () => this.#hurry());
    addEventListener("pagehide", () => this.#socket?.close());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#hurry();
    });
    this.#connect();
  }

  /** Follows a session; gives what ends that. */
  follow(session: string, follower: Follower): () => void {
    this.#followed.set(follower, session);
    if (this.#state.kind === "live") this.#ask(session, follower);
    return () => {
      this.#followed.delete(follower);
      for (const [id, waiting] of this.#waiting) {
        if (waiting.follower !== follower) continue;
        this.#waiting.delete(id);
        if (waiting.is === "events") this.#send(id, "cancel");
      }
    };
  }

  /** Makes a call of the program over the line; nothing is answered when it breaks. */
  call<T>(name: string, given: Says, heard: (answer: T) => void): void {
    if (this.#state.kind !== "live") return;
    const id = this.#next++;
    this.#called.set(id, heard as (answer: unknown) => void);
    this.#send(id, { call: { name, arguments: given } });
  }

  /** Makes a call whose answer comes bit by bit; gives what ends that, after which nothing more is heard. */
  watch<T>(name: string, given: Says, watcher: Watcher<T>): () => void {
    if (this.#state.kind !== "live") {
      watcher.ended(unreachable());
      return () => {};
    }
    const id = this.#next++;
    this.#watched.set(id, watcher as Watcher<unknown>);
    this.#send(id, { watch: { name, arguments: given } });
    return () => {
      if (this.#watched.delete(id)) this.#send(id, "cancel");
    };
  }

  /** Tries at once what waits for its time; somebody looks, or the network is there again. */
  retry(): void {
    this.#hurry();
  }

  #set(state: LineState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  #connect(): void {
    clearTimeout(this.#timers.again);
    const tab = tabToken();
    if (tab === null) return this.#set({ kind: "denied" });
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1/ws`, ["neco.v1", `neco.tab.${tab}`]);
    this.#socket = socket;
    this.#timers.welcome = window.setTimeout(() => this.#broke(socket), HANDSHAKE);
    socket.onopen = () => this.#send(this.#next++, { hello: { protocol: 1 } });
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket) this.#hear(String(data));
    };
    socket.onclose = () => this.#broke(socket);
  }

  #hurry(): void {
    if (this.#state.kind === "live") {
      const before = this.#heard;
      this.#keepAsking();
      clearTimeout(this.#timers.soon);
      const socket = this.#socket;
      this.#timers.soon = window.setTimeout(() => {
        if (this.#heard === before && socket !== undefined) this.#broke(socket);
      }, SOON);
    } else if (this.#state.kind !== "denied" && this.#socket === undefined) {
      this.#connect();
    }
  }

  /** The connection is gone: it is made again after a pause, unless this browser is not let in any more. */
  #broke(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    socket.onclose = socket.onmessage = socket.onopen = null;
    socket.close();
    clearTimeout(this.#timers.welcome);
    clearTimeout(this.#timers.soon);
    clearInterval(this.#timers.ask);
    this.#waiting.clear();
    this.#called.clear();
    const watched = [...this.#watched.values()];
    this.#watched.clear();
    for (const watcher of watched) watcher.ended(unreachable());
    this.#lost_ms ??= Date.now();
    this.#set({ kind: "lost", since_ms: this.#lost_ms, tried: this.#tried });
    this.#timers.again = window.setTimeout(() => this.#connect(), pause(this.#tried++));
    // A WebSocket does not say why it was refused.
    get("/sessions", { limit: 1 }).catch((problem: unknown) => {
      if (!(problem instanceof Problem) || problem.status !== 401) return;
      clearTimeout(this.#timers.again);
      this.#set({ kind: "denied" });
    });
  }

  #send(id: number, says: Says | string, session?: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify({ id, ...(session !== undefined && { session }), says }));
  }

  #hear(text: string): void {
    this.#heard = Date.now();
    const { id, says } = JSON.parse(text) as { id: number; says: Says | "end" };
    if (says === "end") {
      this.#endOf(id, undefined);
    } else if ("event" in says) {
      this.#waiting.get(id)?.follower.event(says.event as Event);
    } else if ("welcome" in says) {
      this.#welcomed();
    } else if ("not_welcome" in says) {
      if (this.#socket !== undefined) this.#broke(this.#socket);
    } else if ("answer" in says) {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      const answer = says.answer as { type: string };
      if (answer.type === "snapshot") waiting?.follower.snapshot(answer as unknown as SessionSnapshot);
    } else if ("called" in says) {
      this.#called.get(id)?.(says.called);
      this.#called.delete(id);
    } else if ("item" in says) {
      this.#watched.get(id)?.item(says.item);
    } else if ("error" in says) {
      this.#endOf(id, troubleIn(says.error));
    } else if ("not_called" in says) {
      this.#called.delete(id);
      this.#endWatched(id, problemIn(says.not_called));
    }
  }

  #endWatched(id: number, problem: Problem | undefined): void {
    const watcher = this.#watched.get(id);
    this.#watched.delete(id);
    watcher?.ended(problem);
  }

  #endOf(id: number, why: string | undefined): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting?.is === "events") waiting.follower.ended(why);
    this.#endWatched(id, why === undefined ? undefined : new Problem(REFUSED, why));
  }

  #welcomed(): void {
    clearTimeout(this.#timers.welcome);
    this.#tried = 0;
    this.#lost_ms = undefined;
    this.#set({ kind: "live" });
    for (const [follower, session] of this.#followed) this.#ask(session, follower);
    clearInterval(this.#timers.ask);
    this.#timers.ask = window.setInterval(() => this.#keepAsking(), ASK_EVERY);
  }

  #ask(session: string, follower: Follower): void {
    const asks = this.#next++;
    this.#waiting.set(asks, { session, follower, is: "snapshot" });
    this.#send(asks, { ask: { type: "snapshot" } }, session);
    const follows = this.#next++;
    this.#waiting.set(follows, { session, follower, is: "events" });
    this.#send(follows, { events: { since: follower.since() } }, session);
  }

  #keepAsking(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    if (Date.now() - this.#heard > DEAD_AFTER) return this.#broke(socket);
    this.call("sessions.list", { limit: 1 }, () => {});
  }
}

/** What the statuses of HTTP say where no HTTP is spoken. */
const REFUSED = 400;
const FORBIDDEN = 403;

/** Why a call was not made. */
function problemIn(error: unknown): Problem {
  const { trouble, message, hint } = (error ?? {}) as { trouble?: string; message?: string; hint?: string };
  return new Problem(trouble === "not_allowed" ? FORBIDDEN : REFUSED, message ?? "", hint);
}

/** What the server says of something that it did not do. */
function troubleIn(error: unknown): string {
  if (typeof error === "string") return error;
  const { refused, failed } = (error ?? {}) as { refused?: string; failed?: { code: number; message: string } };
  return refused ?? (failed === undefined ? "gone" : `${failed.message} (${failed.code})`);
}
