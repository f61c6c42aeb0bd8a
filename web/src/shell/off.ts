//! When the person can run nothing, and why.

import { useEnded, useIsLive, useShell } from "../wire";
import { useWords } from "../words";

/** Why no command can be run; nothing where one can. */
export function useShellOff(): string | undefined {
  const words = useWords().shell;
  const isLive = useIsLive();
  const ended = useEnded();
  const { refusal } = useShell();
  if (refusal !== undefined) return words.refused(refusal);
  if (!isLive) return words.offline;
  return ended === undefined ? undefined : words.ended;
}
