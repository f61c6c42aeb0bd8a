//! Text that a person judges: nothing is left out, and nothing is hidden.

/** Control characters, and those that change the order of others or are there without being seen. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is written out
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u034f|[\ufe00-\ufe0e]/gu;

/** Whether something in a text can't be seen. */
export const hasUnseen = (text: string): boolean => text.search(UNSEEN) >= 0;

/** A text cut into what is shown as it is, and what is written out, such as `U+202E`. */
export function visible(text: string): { text: string; isSign: boolean }[] {
  const pieces: { text: string; isSign: boolean }[] = [];
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), isSign: false });
    const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    pieces.push({ text: `U+${code}`, isSign: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isSign: false });
  return pieces;
}
