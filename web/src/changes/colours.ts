//! The colours of a change: asked for when it was in view for a moment, each side as a text of its own.

import { useEffect, useState } from "react";
import type { Hunk } from "../proto";
import { type Parts, partsOf, REST } from "../text";
import type { Cell } from "./pairs";
import { turns } from "./turns";

/** One side of a change as a text, with the place where each of its lines begins, and its colours when they are there. */
type Side = { text: string; starts: readonly number[]; first: number; parts?: Parts };

/** Where a line stands in a coloured text. */
export type Tinted = { text: string; parts: Parts; from: number };

/** The lines of a side, one below the other. */
export function sideOf({ lines, ...hunk }: Hunk, side: "before" | "after"): Side {
  const other = side === "before" ? "added" : "removed";
  const starts: number[] = [];
  const pieces: string[] = [];
  let at = 0;
  for (const { kind, text } of lines) {
    if (kind === other) continue;
    starts.push(at);
    pieces.push(text);
    at += text.length + 1;
  }
  return { text: pieces.join("\n"), starts, first: hunk[side] };
}

class Colours {
  readonly #hunk: Hunk;
  readonly #path: string;
  readonly #seen = new Set<() => void>();
  #timer: number | undefined;
  #isAsked = false;
  #sides: { before: Side; after: Side } | undefined;
  /** Counts what came. */
  came = 0;

  constructor(hunk: Hunk, path: string) {
    this.#hunk = hunk;
    this.#path = path;
  }

  readonly see = (changed: () => void): (() => void) => {
    this.#seen.add(changed);
    if (!this.#isAsked) this.#timer ??= window.setTimeout(this.#ask, REST);
    return () => {
      this.#seen.delete(changed);
      if (this.#seen.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  };

  readonly #ask = () => {
    this.#isAsked = true;
    const sides = { before: sideOf(this.#hunk, "before"), after: sideOf(this.#hunk, "after") };
    this.#sides = sides;
    for (const side of [sides.before, sides.after]) {
      partsOf(side.text, this.#path, (parts) => {
        side.parts = parts;
        this.came += 1;
        for (const changed of this.#seen) changed();
      });
    }
  };

  of({ kind, before, after }: Cell): Tinted | undefined {
    const side = kind === "removed" ? this.#sides?.before : this.#sides?.after;
    const number = kind === "removed" ? before : after;
    if (side?.parts === undefined || number === undefined) return undefined;
    const from = side.starts[number - side.first];
    return from === undefined ? undefined : { text: side.text, parts: side.parts, from };
  }
}

/** What is known of a change goes with its lines: these are the same also when it is kept. */
const known = new WeakMap<Hunk["lines"], Colours>();

function coloursOf(hunk: Hunk, path: string): Colours {
  const found = known.get(hunk.lines) ?? new Colours(hunk, path);
  known.set(hunk.lines, found);
  return found;
}

/** Says of each line of a change where its colours are, as soon as it is its turn. */
export function useTints(hunk: Hunk, path: string): (cell: Cell) => Tinted | undefined {
  const colours = coloursOf(hunk, path);
  const [shown, show] = useState(() => (turns.isResting(performance.now()) ? colours.came : 0));
  useEffect(() => {
    let leave: (() => void) | undefined;
    const wait = () => {
      leave?.();
      leave = turns.wait(() => show(colours.came));
    };
    if (colours.came > shown) wait();
    const end = colours.see(wait);
    return () => {
      leave?.();
      end();
    };
  }, [colours, shown]);
  return (cell) => (shown > 0 ? colours.of(cell) : undefined);
}
