//! What this browser keeps for itself: choices of looks, drafts, widths.

import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

addEventListener("storage", () => tell());

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function store(name: string, value: string | null): void {
  if (value === null || value === "") localStorage.removeItem(`neco.${name}`);
  else localStorage.setItem(`neco.${name}`, value);
  tell();
}

export const stored = (name: string): string | null => localStorage.getItem(`neco.${name}`);

/** A text that is kept under a name; another tab that changes it changes it here, too. */
export function useStored(name: string): [string | null, (value: string | null) => void] {
  const value = useSyncExternalStore(subscribe, () => stored(name));
  const set = useCallback((value: string | null) => store(name, value), [name]);
  return [value, set];
}

/** Under what name the draft of a session is kept. */
export const draftOf = (session: string): string => `draft.${session}`;

/** Under what name is kept what is being written to one agent of a session. */
export const draftToAgent = (session: string, agent: string): string => `draft.${session}.${agent}`;

/** Under what name the remarks on changes of a session are kept until they are sent. */
export const remarksOf = (session: string): string => `remarks.${session}`;
