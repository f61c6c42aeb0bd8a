//! Values of settings: read as TOML writes them, and with which control each is set.

import type { Json, SettingRow } from "../proto";

/** A value that a control can set; what is not one of these is edited in the file. */
export type Value = string | number | boolean | readonly (string | number | boolean)[];

export type Control =
  | { kind: "switch" }
  | { kind: "number"; whole: boolean; least?: number; above?: number; most?: number }
  | { kind: "choice"; choices: readonly string[] }
  | { kind: "list" }
  | { kind: "text"; mayBeEmpty: boolean }
  | { kind: "file" };

/** What stands in place of a secret. */
const HIDDEN = "***";

/** Reads a value as a setting's row has it; nothing where it is a table, a secret or no TOML. */
export function parsed(toml: string): Value | undefined {
  const text = toml.trim();
  if (text === "" || text.includes(HIDDEN)) return undefined;
  const reader = new Reader(text);
  const value = reader.value();
  return value === undefined || !reader.isAtEnd() ? undefined : value;
}

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  value(): Value | undefined {
    if (this.#text[this.#at] !== "[") return this.#single();
    const items: (string | number | boolean)[] = [];
    this.#at += 1;
    while (true) {
      this.#take(/[\s,]*/y);
      if (this.#take(/\]/y) !== undefined) return items;
      const item = this.#single();
      if (item === undefined) return undefined;
      items.push(item);
    }
  }

  #single(): string | number | boolean | undefined {
    const basic = this.#take(/"(?:[^"\\]|\\.)*"/y);
    if (basic !== undefined) return unescaped(basic);
    const literal = this.#take(/'[^']*'/y);
    if (literal !== undefined) return literal.slice(1, -1);
    const bare = this.#take(/[\w.+-]+/y);
    if (bare === "true" || bare === "false") return bare === "true";
    const number = Number(bare?.replaceAll("_", ""));
    return bare === undefined || Number.isNaN(number) ? undefined : number;
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    const found = form.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

/** A basic string without its quotes; TOML has two escapes that JSON lacks. */
function unescaped(quoted: string): string | undefined {
  const text = quoted.replace(/\\U([0-9a-fA-F]{8})/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
  try {
    return JSON.parse(text.replaceAll("\\e", "\\u001b")) as string;
  } catch {
    return undefined;
  }
}

/** With which control a setting is set: by what it takes, and for names that people give themselves by its value. */
export function controlOf({ takes = "", value }: Pick<SettingRow, "takes" | "value">): Control {
  const now = parsed(value);
  if (value !== "" && now === undefined) return { kind: "file" };
  if (takes === "") return byValue(now);
  if (takes === "true or false") return { kind: "switch" };
  if (takes.startsWith("one of ")) {
    return { kind: "choice", choices: Array.from(takes.matchAll(/`([^`]+)`/g), ([, name]) => name ?? "") };
  }
  const number = /^a (whole )?number(?: (.*))?$/.exec(takes);
  if (number !== null) return { kind: "number", whole: number[1] !== undefined, ...range(number[2] ?? "") };
  if (takes.startsWith("a list, each item a string")) return { kind: "list" };
  if (takes === "a string") return { kind: "text", mayBeEmpty: true };
  if (takes.startsWith("a string")) return { kind: "text", mayBeEmpty: false };
  return { kind: "file" };
}

function byValue(value: Value | undefined): Control {
  switch (typeof value) {
    case "boolean":
      return { kind: "switch" };
    case "number":
      return { kind: "number", whole: false };
    case "string":
      return { kind: "text", mayBeEmpty: true };
    case "object":
      return { kind: "list" };
    default:
      return { kind: "file" };
  }
}

function range(words: string): { least?: number; above?: number; most?: number } {
  const bound = (name: string) => {
    const found = new RegExp(`${name} (-?[\\d.]+)`).exec(words)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const [least, above, most] = [bound("at least"), bound("more than"), bound("at most")];
  return {
    ...(least !== undefined && { least }),
    ...(above !== undefined && { above }),
    ...(most !== undefined && { most }),
  };
}

/** A setting as a person writes it, which the server reads. */
export const written = (key: string, value: Json): string => `${key}=${JSON.stringify(value)}`;

/** Whether two values are the same. */
export const isSame = (one: Json, other: Json): boolean => JSON.stringify(one) === JSON.stringify(other);
