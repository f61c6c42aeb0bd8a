//! Keys for the whole page. Letters count only while nobody writes.

import { useEffect, useMemo, useRef } from "react";
import { isKeyAct, type KeyAct, type KeyMap, keysIn, USUAL, withKey } from "./keymap";
import { stored, useStored } from "./stored";

/** Keys that mean the same for everybody, by their names. */
type FixedKey = "Escape" | "ArrowDown" | "ArrowUp" | "Mod-f" | "Mod-s" | `${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

/** What is done at a key, by what that is or by a key that is fixed. What gives false lets the key go on. */
export type Keys = Partial<Record<KeyAct | FixedKey, (event: KeyboardEvent) => unknown>>;

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

const KEYS = "keys";

let known: { kept: string | null; keys: KeyMap } = { kept: null, keys: keysIn(null) };

/** The keys that hold now. */
function keysNow(): KeyMap {
  const kept = stored(KEYS);
  if (kept !== known.kept) known = { kept, keys: keysIn(kept) };
  return known.keys;
}

/** The keys that hold, and how one is given to something else; the usual ones come back as null. */
export function useKeyMap() {
  const [kept, keep] = useStored(KEYS);
  const keys = useMemo(() => keysIn(kept), [kept]);
  return {
    keys,
    isUsual: kept === null,
    isOwn: (act: KeyAct) => keys[act] !== USUAL[act],
    give: (act: KeyAct, key: string) => keep(withKey(keys, act, key)),
    reset: () => keep(null),
  };
}

/** How long `g` waits for the letter that says where to. */
const PREFIX_MS = 1500;

let prefixed = Number.NEGATIVE_INFINITY;

/** A key is named once for all who look at it. */
const names = new WeakMap<KeyboardEvent, string>();

function nameOf(event: KeyboardEvent): string {
  const known = names.get(event);
  if (known !== undefined) return known;
  const key = keyName(event);
  const isLetter = key.length === 1 && !isWriting(event.target);
  const name = isLetter && event.timeStamp - prefixed < PREFIX_MS ? `g ${key}` : key;
  // A second `g` is the letter, and begins nothing.
  prefixed = isLetter && name === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
  names.set(event, name);
  return name;
}

/** The name of a key: `y`, `Y`, `Escape`, `Alt-n`, `Mod-k`. With `g` before it, it is `g c`. */
export function keyName(
  event: Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "getModifierState">,
): string {
  // AltGr, with which signs are written, looks like both on some systems.
  if (event.ctrlKey && event.altKey && event.getModifierState("AltGraph")) return event.key;
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
      const work = workAt(now.current, name);
      const isLetter = name.length === 1 || name.startsWith("g ");
      if (work === undefined || (isLetter && (isWriting(event.target) || stored(LETTERS) === "off"))) return;
      if (work(event) !== false) event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function workAt(keys: Keys, name: string) {
  const found = Object.entries(keys).find(([what]) => (isKeyAct(what) ? keysNow()[what] : what) === name);
  return found?.[1];
}
