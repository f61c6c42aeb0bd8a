//! Going back and forth in what was run before, like in any shell.

/** How far back somebody went, and what they had written before. */
export type Recalled = { back: number; draft: string };

/** The command before; nothing where there is none. */
export function earlier(commands: readonly string[], recalled: Recalled | undefined, text: string) {
  const back = (recalled?.back ?? 0) + 1;
  const found = commands.at(-back);
  if (back > commands.length || found === undefined) return undefined;
  return { text: found, recalled: { back, draft: recalled?.draft ?? text } };
}

/** The command after, or what was written before somebody went back. */
export function later(commands: readonly string[], recalled: Recalled | undefined) {
  if (recalled === undefined) return undefined;
  const back = recalled.back - 1;
  if (back === 0) return { text: recalled.draft, recalled: undefined };
  return { text: commands.at(-back) ?? "", recalled: { ...recalled, back } };
}

/** What was run, the newest last; what was run several times in a row stands there once. */
export function commandsOf(lines: readonly { command: string }[]): string[] {
  return lines.map(({ command }) => command).filter((command, at, all) => command !== all[at - 1]);
}
