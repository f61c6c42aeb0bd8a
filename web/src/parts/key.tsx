//! The key of something, as it stands beside what it does.

import type { KeyAct } from "./keymap";
import { readable } from "./keymap";
import { useKeyMap } from "./keys";

/** The key that something has now, in words; empty where it has none. */
export function useKeyOf(act: KeyAct): string {
  const { keys } = useKeyMap();
  return readable(keys[act]).join(" ");
}

export function Key({ of }: { of: KeyAct }) {
  const key = useKeyOf(of);
  return key === "" ? null : <kbd>{key}</kbd>;
}
