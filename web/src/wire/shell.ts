//! Commands that the person runs in a session, beside what its agents do: one at a time. Each is told to the model with
//! the message after it.

import { RAN, written } from "../fold";
import type { ShellEnd as Ended } from "../proto";
import { onceKey, type Problem } from "./http";
import type { Line } from "./line";
import { fenced, MOST, toldOf, withWhatRan } from "./told";

/** What the server says while a command runs, as far as this page knows it. */
type Heard = { type: "printed"; text: string; left_out?: number } | ({ type: "ended" } & Ended);

export type ShellEnd = {
  took_ms?: number;
  /** The folder in which the commands after it run, where it changed that. */
  folder?: string;
  /** Whether files that may hold secrets looked empty to it, as it did not name them. */
  masked?: true;
} & (
  | { kind: "exit"; code: number }
  | { kind: "stopped" | "killed" | "lost" }
  | { kind: "failed"; why: string; hint?: string }
);

export type ShellLine = {
  key: string;
  command: string;
  began_ms: number;
  printed: string;
  /** Whether something before what it printed is missing. */
  isCut?: true;
  end?: ShellEnd;
  /** Whether a message was sent since it ended. */
  isTold?: true;
};

/** Characters that are kept of what a command prints. */
const PRINTED = 256 * 1024;

/** Commands that are kept. */
const LINES = 50;

/** How long what is printed is gathered before it is drawn, in milliseconds. */
const GATHERED = 50;

export class Shell {
  /** The newest last; another list whenever one of them stands otherwise. */
  lines: readonly ShellLine[] = [];
  /** Why nothing is run for whoever has this page, once the server said so. */
  refusal: string | undefined;
  #session: string;
  #line: Line;
  #untold: string[] = [];
  #cancel: (() => void) | undefined;
  #listeners = new Set<() => void>();
  #due: number | undefined;

  constructor(session: string, line: Line) {
    this.#session = session;
    this.#line = line;
    const kept = restored(session);
    this.#untold = kept.untold;
    this.lines = kept.lines;
    // Whoever ran it went away with the page.
    if (this.running !== undefined) this.#end({ kind: "lost" });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get running(): ShellLine | undefined {
    const last = this.lines.at(-1);
    return last?.end === undefined ? last : undefined;
  }

  /** Runs a command; gives its key, or nothing while another one runs or the server can't be reached. */
  run(command: string): string | undefined {
    if (this.running !== undefined || this.#line.state.kind !== "live") return undefined;
    const began_ms = Date.now();
    const key = onceKey();
    this.#set([...this.lines.slice(1 - LINES), { key, command, began_ms, printed: "" }]);
    this.#keep();
    const given = { session: this.#session, command };
    const runs = () => this.running?.key === key;
    const cancel = this.#line.watch<Heard>("shell.run", given, {
      item: (news) => runs() && this.#hear(news),
      ended: (problem) => runs() && this.#ended(problem),
    });
    if (runs()) this.#cancel = cancel;
    return key;
  }

  /** Stops the command that runs; gives whether one did. */
  stop(): boolean {
    if (this.running === undefined) return false;
    this.#cancel?.();
    this.#end({ kind: "stopped" });
    return true;
  }

  /** A message that tells the model what it was not told yet. */
  tell(message: string): string {
    const text = withWhatRan(message, this.#untold);
    this.#untold = [];
    this.#set(this.lines.map((line) => (line.end === undefined ? line : { ...line, isTold: true })));
    this.#keep();
    return text;
  }

  /** What was written of a message that comes back; what ran goes along with whatever is said next. */
  takeBack(text: string): string {
    const at = text.indexOf(RAN);
    if (at < 0) return written(text);
    this.#untold.push(text.slice(at + RAN.length));
    this.#keep();
    return written(text.slice(0, at));
  }

  #hear(news: Heard): void {
    if (news.type === "printed") this.#printed(news.text, news.left_out ?? 0);
    else if (news.type === "ended") {
      const { code, folder, masked } = news;
      const more = { ...(typeof folder === "string" && { folder }), ...(masked === true && { masked }) };
      this.#end(typeof code === "number" ? { kind: "exit", code, ...more } : { kind: "killed", ...more });
    }
  }

  #printed(text: string, left_out: number): void {
    const { running } = this;
    if (running === undefined) return;
    const printed = `${running.printed}${left_out > 0 ? "\n…\n" : ""}${text}`;
    const isLong = printed.length > 2 * PRINTED;
    const now = isLong ? { printed: printed.slice(-PRINTED), isCut: true as const } : { printed };
    this.lines = this.lines.with(-1, { ...running, ...now });
    this.#due ??= window.setTimeout(() => this.#tell(), GATHERED);
  }

  /** Nothing more comes: where nobody said how it ended, why that is. */
  #ended(problem: Problem | undefined): void {
    if (problem?.status === 403) this.refusal = problem.message;
    if (problem === undefined || problem.isOffline) this.#end({ kind: "lost" });
    else {
      const { message: why, hint } = problem;
      this.#end({ kind: "failed", why, ...(hint !== undefined && { hint }) });
    }
  }

  #end(end: ShellEnd): void {
    const { running } = this;
    if (running === undefined) return;
    this.#cancel = undefined;
    // A line that is restored says nothing of its time.
    const took = end.kind === "lost" ? {} : { took_ms: Date.now() - running.began_ms };
    const over = { ...running, end: { ...end, ...took } };
    // What was not run is nothing to tell.
    if (end.kind !== "failed") this.#untold.push(fenced(toldOf(over.command, over.printed, endedAs(end))));
    this.#set(this.lines.with(-1, over));
    this.#keep();
  }

  #set(lines: readonly ShellLine[]): void {
    this.lines = lines;
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    for (const listener of this.#listeners) listener();
  }

  #keep(): void {
    try {
      const kept: Kept = { lines: this.lines.map(shortened), untold: this.#untold };
      sessionStorage.setItem(place(this.#session), JSON.stringify(kept));
    } catch {
      // There is no room for it: it lasts as long as the page.
    }
  }
}

/** How a command ended, in the words that every window has for the model. */
function endedAs(end: ShellEnd): string {
  const how =
    end.kind === "lost"
      ? "(how it ended is not known)"
      : end.kind !== "exit"
        ? "(stopped)"
        : end.code === 0
          ? ""
          : `(exit code ${end.code})`;
  return [
    end.folder === undefined ? "" : `(your ! commands run in ${end.folder} now)`,
    end.masked === true
      ? "(in the sandbox files with secrets look empty unless the command names them, and so does .neco where there is none)"
      : "",
    how,
  ]
    .filter(Boolean)
    .join("\n");
}

const place = (session: string) => `neco.shell.${session}`;

type Kept = { lines: readonly ShellLine[]; untold: string[] };

/** The end of what a command printed outlasts the page. */
function shortened(line: ShellLine): ShellLine {
  return line.printed.length > MOST ? { ...line, printed: line.printed.slice(-MOST), isCut: true } : line;
}

/** What this tab ran before the page was loaded anew. */
function restored(session: string): Kept {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place(session)) ?? "") as Kept;
    return { lines: [...kept.lines], untold: [...kept.untold] };
  } catch {
    return { lines: [], untold: [] };
  }
}
