//! The colours that a program gave what it printed (SGR): a text without them, and where each holds. Everything else that
//! would steer a terminal is left out.

import { clean } from "../fold";
import type { Parts } from "./colours";

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

type Look = { ink: string; bold: boolean; dim: boolean; italic: boolean; under: boolean; inverse: boolean };

const PLAIN: Look = { ink: "", bold: false, dim: false, italic: false, under: false, inverse: false };

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what is read
const SGR = /\x1b\[([\d;:]*)m/g;

/** A text as a terminal would show it, line by line: its letters, and the parts that look otherwise. */
export function sgr(printed: string): { text: string; parts: Parts } {
  const names: string[] = [];
  const at: number[] = [];
  let look = PLAIN;
  let text = "";
  let from = 0;
  const put = (piece: string) => {
    const words = clean(piece);
    const name = namesOf(look);
    if (words !== "" && name !== "") {
      let number = names.indexOf(name);
      if (number < 0) number = names.push(name) - 1;
      at.push(text.length, text.length + words.length, number);
    }
    text += words;
  };
  for (const found of printed.matchAll(SGR)) {
    put(printed.slice(from, found.index));
    look = after(look, found[1] ?? "");
    from = found.index + found[0].length;
  }
  put(printed.slice(from));
  return { text, parts: { at: Uint32Array.from(at), names } };
}

function namesOf({ ink, bold, dim, italic, under, inverse }: Look): string {
  return [
    ink && `ink-${ink}`,
    bold && "ink-bold",
    dim && "ink-dim",
    italic && "ink-italic",
    under && "ink-under",
    inverse && "ink-inverse",
  ]
    .filter(Boolean)
    .join(" ");
}

/** How it looks after these codes; those of grounds and others change nothing. */
function after(before: Look, codes: string): Look {
  const look = { ...before };
  const numbers = codes.split(/[;:]/).map((code) => Number(code || 0));
  for (let place = 0; place < numbers.length; place++) {
    const code = numbers[place] ?? 0;
    if (code === 0) Object.assign(look, PLAIN);
    else if (code === 1) look.bold = true;
    else if (code === 2) look.dim = true;
    else if (code === 3) look.italic = true;
    else if (code === 4) look.under = true;
    else if (code === 7) look.inverse = true;
    else if (code === 22) look.bold = look.dim = false;
    else if (code === 23) look.italic = false;
    else if (code === 24) look.under = false;
    else if (code === 27) look.inverse = false;
    else if (code >= 30 && code <= 37) look.ink = COLOURS[code - 30] ?? "";
    else if (code >= 90 && code <= 97) look.ink = COLOURS[code - 90] ?? "";
    else if (code === 39) look.ink = "";
    else if (code === 38 || code === 48) {
      const isIndexed = numbers[place + 1] === 5;
      if (code === 38)
        look.ink = isIndexed ? indexed(numbers[place + 2] ?? 0) : mixed(numbers.slice(place + 2, place + 5));
      place += isIndexed ? 2 : 4;
    }
  }
  return look;
}

/** The nearest of our colours to one of 256. */
function indexed(number: number): string {
  if (number < 16) return COLOURS[number % 8] ?? "";
  if (number >= 232) return number < 244 ? "black" : "white";
  const step = number - 16;
  return mixed([Math.floor(step / 36), Math.floor(step / 6) % 6, step % 6].map((part) => part * 51));
}

function mixed(colour: number[]): string {
  const most = Math.max(...colour);
  if (most < 64) return "black";
  const bits = colour.map((part, bit) => (part > most * 0.6 ? 1 << bit : 0));
  return COLOURS[bits.reduce((sum, bit) => sum + bit, 0)] ?? "";
}
