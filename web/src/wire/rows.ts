//! The list of sessions as it is kept up to date: asked over the line, often while somebody looks.

import type { SessionPage, SessionRow } from "../proto";
import type { Line } from "./line";

const SEEN = 3_000;
const HIDDEN = 15_000;
const SOON = 300;

/** How many sessions the side bar knows. */
const MOST = 60;

export class Rows {
  /** Nothing until they were told; another list whenever one stands otherwise. */
  sessions: readonly SessionRow[] | undefined;
  #line: Line;
  #known: (row: SessionRow) => SessionRow;
  #listeners = new Set<() => void>();
  #timer: number | undefined;
  #text = "";

  /** `known` puts in what is known better of a session that is followed. */
  constructor(line: Line, known: (row: SessionRow) => SessionRow) {
    this.#line = line;
    this.#known = known;
    line.subscribe(() => this.refresh());
    document.addEventListener("visibilitychange", () => this.refresh());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Asks in a moment: a session that is followed stands otherwise, which the list is about to know. */
  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.refresh(), SOON);
  }

  /** Asks now, and then again from time to time. */
  refresh(): void {
    clearTimeout(this.#timer);
    if (this.#line.state.kind !== "live") return;
    this.#line.call<SessionPage>("sessions.list", { limit: MOST, states: true }, (page) => this.#take(page));
    const pause = document.visibilityState === "visible" ? SEEN : HIDDEN;
    this.#timer = window.setTimeout(() => this.refresh(), pause);
  }

  #take(page: SessionPage): void {
    const sessions = page.sessions.map(this.#known);
    const text = JSON.stringify(sessions);
    if (text === this.#text) return;
    this.#text = text;
    this.sessions = sessions;
    for (const listener of this.#listeners) listener();
  }
}
