//! What is written of a command of the person's own.

/** The command line that a text is, as what begins with `!` is; nothing where it is none. */
export function commandIn(text: string): string | undefined {
  const said = text.trim();
  return said.startsWith("!") ? said.slice(1).trim() : undefined;
}
