//! One session as it is followed: its view, folded a frame at a time, and what was said here and is not in the log yet.

import { emptyView, fold, type Slice, type View, workOf } from "../fold";
import type { Command, Event, SessionRow } from "../proto";
import { onceKey, Problem, request } from "./http";
import type { Line } from "./line";
import type { Shell } from "./shell";

/** How long a frame may be folded, in milliseconds. */
const FRAME = 8;

/** The same while what was there at the opening comes: nobody reads yet. */
const OPENING = 50;

/** Events between two looks at the clock. */
const STEP = 200;

/** How long nothing is drawn meanwhile. */
const SKIPPED = 1_000;

/** How often is folded while nobody looks, in milliseconds. */
const HIDDEN = 1000;

/** Something that was said here and is not in the log yet. */
export type Outgoing = {
  key: string;
  text: string;
  command: Command;
  state: "sending" | "held" | "refused";
  message_id?: string;
  trouble?: string;
};

type Receipt = { seq: number; message_id?: string | null };

export class LiveSession {
  readonly id: string;
  readonly view: View = emptyView();
  /** What was said here and is not in the log yet; another list whenever it changes. */
  outgoing: readonly Outgoing[] = [];
  /** Whether all that was there at the opening has been taken in. */
  isOpen = false;
  /** Why nothing more comes, if that is so. */
  ended: string | undefined;
  #line: Line;
  #stands: (() => void) | undefined;
  #shell: Shell | undefined;
  #stood = "";
  #stop: (() => void) | undefined;
  #queue: Event[] = [];
  #goal: number | undefined;
  #scheduled = false;
  #listeners = new Set<() => void>();
  #users = 0;
  /** When listeners were told last that something has changed. */
  #told = 0;
  #later: number | undefined;

  /** `stands` is told when the session asks something or rests, or does not any more; without it nothing is said here,
   * the session is only read. What the person runs in `shell` is told with what they say. */
  constructor(id: string, line: Line, stands?: () => void, shell?: Shell) {
    this.id = id;
    this.#line = line;
    this.#stands = stands;
    this.#shell = shell;
    if (stands === undefined) return;
    this.outgoing = restored(id);
    line.subscribe(() => {
      if (line.state.kind === "live") for (const it of this.outgoing) if (it.state === "held") void this.#post(it);
    });
  }

  /** Follows the session as long as somebody draws it. */
  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.again();
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.#stop?.();
    };
  }

  /** Follows it from here on, also when that had ended. */
  again(): void {
    this.#stop?.();
    this.ended = undefined;
    this.#tell();
    this.#stop = this.#line.follow(this.id, {
      since: () => this.#queue.at(-1)?.seq ?? this.view.seq,
      event: (event) => this.#take(event),
      ended: (why) => {
        this.ended = why ?? "";
        this.#tell();
      },
      snapshot: (snapshot) => {
        this.#goal = snapshot.last_seq;
        this.ended = undefined;
        this.#schedule();
      },
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** How often a slice has changed. */
  rev(slice: Slice): number {
    return this.view.revs[slice];
  }

  /** Hands a command over; fails with a `Problem`. */
  send(command: Command): Promise<Receipt> {
    return request<Receipt>("POST", `/sessions/${this.id}/commands`, command, onceKey());
  }

  /** Says something: it is drawn at once, and held while the server can't be reached. */
  say(words: string, when: "now" | "later"): void {
    const text = this.#shell?.tell(words) ?? words;
    const steers = when === "now" && this.isAtWork;
    const command: Command = steers ? { type: "steer", text } : { type: "user_message", content: text };
    const said: Outgoing = { key: onceKey(), text, command, state: "sending" };
    this.#setOutgoing([...this.outgoing, said]);
    void this.#post(said);
  }

  /** Forgets something that was said and did not reach the server. */
  unsay({ key, text }: Outgoing): void {
    this.#shell?.takeBack(text);
    this.#forget(key);
  }

  /** Its row, with what only those know who follow it: that somebody below its root still works, or is paused. */
  known(row: SessionRow): SessionRow {
    const work = this.#users > 0 && this.isOpen && this.ended === undefined ? workOf(this.view) : undefined;
    return work === undefined ? row : { ...row, work };
  }

  get isAtWork(): boolean {
    return !this.view.over && this.view.standing.since_ms !== undefined;
  }

  /** Takes the next events into the view. */
  protected fold(events: readonly Event[]): void {
    fold(this.view, events);
  }

  async #post(said: Outgoing): Promise<void> {
    this.#change(said.key, { state: "sending" });
    try {
      const { message_id } = await request<Receipt>("POST", `/sessions/${this.id}/commands`, said.command, said.key);
      if (typeof message_id === "string") this.#change(said.key, { message_id });
      else this.#forget(said.key);
      this.#settle();
    } catch (problem) {
      const offline = problem instanceof Problem && problem.isOffline;
      const trouble = problem instanceof Error ? problem.message : String(problem);
      this.#change(said.key, offline ? { state: "held" } : { state: "refused", trouble });
    }
  }

  #change(key: string, change: Partial<Outgoing>): void {
    this.#setOutgoing(this.outgoing.map((said) => (said.key === key ? { ...said, ...change } : said)));
  }

  #forget(key: string): void {
    this.#setOutgoing(this.outgoing.filter((said) => said.key !== key));
  }

  #setOutgoing(outgoing: readonly Outgoing[]): void {
    this.outgoing = outgoing;
    keep(this.id, outgoing);
    this.#tell();
  }

  /** What is in the log by now is drawn from there. */
  #settle(): void {
    if (this.outgoing.length === 0) return;
    const { messages } = this.view;
    const left = this.outgoing.filter(({ message_id }) => message_id === undefined || !messages.has(message_id));
    if (left.length < this.outgoing.length) this.#setOutgoing(left);
  }

  #take(event: Event): void {
    const last = this.#queue.at(-1)?.seq ?? this.view.seq;
    // What came before a connection broke is sent again by none; what would be doubled is left out all the same.
    if (event.seq <= last) return;
    this.#queue.push(event);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const run = () => {
      this.#scheduled = false;
      this.#run();
    };
    if (document.visibilityState === "visible") requestAnimationFrame(run);
    else setTimeout(run, HIDDEN);
  }

  #run(): void {
    const until = performance.now() + (this.isOpen ? FRAME : OPENING);
    let at = 0;
    while (at < this.#queue.length) {
      this.fold(this.#queue.slice(at, at + STEP));
      at += STEP;
      if (performance.now() > until) break;
    }
    this.#queue.splice(0, at);
    if (this.#queue.length > 0) this.#schedule();
    if (this.#goal !== undefined && this.view.seq >= this.#goal) this.isOpen = true;
    // What will be gone from view in a moment is not drawn: most of a long session is above its end.
    const rest = this.#told + SKIPPED - performance.now();
    clearTimeout(this.#later);
    if (this.isOpen || rest <= 0) this.#show();
    else this.#later = window.setTimeout(() => this.#show(), rest);
  }

  /** Draws what has been taken in. */
  #show(): void {
    this.#settle();
    const { revs, standing, title } = this.view;
    const stands = `${revs.asked} ${standing.state} ${workOf(this.view)} ${title}`;
    if (stands !== this.#stood) {
      this.#stood = stands;
      this.#stands?.();
    }
    this.#tell();
  }

  #tell(): void {
    this.#told = performance.now();
    for (const listener of this.#listeners) listener();
  }
}

const place = (id: string) => `neco.outgoing.${id}`;

function keep(id: string, outgoing: readonly Outgoing[]): void {
  const left = outgoing.filter((said) => said.message_id === undefined);
  if (left.length === 0) localStorage.removeItem(place(id));
  else localStorage.setItem(place(id), JSON.stringify(left));
}

/** What was said before the page was loaded anew, under the keys under which it is done once. */
function restored(id: string): readonly Outgoing[] {
  try {
    const kept = JSON.parse(localStorage.getItem(place(id)) ?? "[]") as Outgoing[];
    return kept.map((said) => (said.state === "sending" ? { ...said, state: "held" } : said));
  } catch {
    return [];
  }
}
