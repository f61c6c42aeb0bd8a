//! Keys for the whole page. Letters count only while nobody writes.

import { useEffect, useRef } from "react";
import { stored, useStored } from "./stored";

/** What is done at a key, by its name: `y`, `Y`, `Escape`, `Alt-n`, `Mod-k`, and `g c` for one after the other. What
 * gives false lets the key go on. */
export type Keys = Record<string, (event: KeyboardEvent) => unknown>;

export function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const LETTERS = "letters";

/** Whether letters do anything; who dictates or types beside a field has them off. */
export function useLetters(): [boolean, (areOn: boolean) => void] {
  const [kept, keep] = useStored(LETTERS);
  return [kept !== "off", (areOn) => keep(areOn ? null : "off")];
}

/** How long `g` waits for the letter that says where to. */
const PREFIX_MS = 1500;

let prefixed = Number.NEGATIVE_INFINITY;

/** A key is named once for all who look at it. */
const names = new WeakMap<KeyboardEvent, string>();

function nameOf(event: KeyboardEvent): string {
  const known = names.get(event);
  if (known !== undefined) return known;
  const key = keyOf(event);
  const isLetter = key.length === 1 && !isWriting(event.target);
  const name = isLetter && event.timeStamp - prefixed < PREFIX_MS ? `g ${key}` : key;
  // A second `g` is the letter, and begins nothing.
  prefixed = isLetter && name === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
  names.set(event, name);
  return name;
}

function keyOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? "Mod-" : "";
  const alt = event.altKey ? "Alt-" : "";
  const key = event.altKey && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.key;
  return `${mod}${alt}${key}`;
}

export function useKeys(keys: Keys): void {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
      // What is over everything has the keys to itself.
      if (document.querySelector("dialog[open]") !== null) return;
      const name = nameOf(event);
      const work = now.current[name];
      const isLetter = name.length === 1 || name.startsWith("g ");
      if (work === undefined || (isLetter && (isWriting(event.target) || stored(LETTERS) === "off"))) return;
      if (work(event) !== false) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
