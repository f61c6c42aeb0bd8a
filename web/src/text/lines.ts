//! A text as rows of one height: its lines, of which those that are very long go on in the next row.

/** Characters of a row. */
const WIDEST = 1_000;

export type Rows = {
  /** Where each row begins, and after the last where the next one would. */
  starts: readonly number[];
  /** The number of the line that begins with a row, from 1; 0 where one goes on. */
  lines: readonly number[];
  /** Characters of the longest row. */
  widest: number;
};

export function rowsOf(text: string): Rows {
  const starts: number[] = [];
  const lines: number[] = [];
  let widest = 0;
  let line = 0;
  let at = 0;
  while (at < text.length || line === 0) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    line += 1;
    starts.push(at);
    lines.push(line);
    widest = Math.max(widest, Math.min(end - at, WIDEST));
    for (let next = cut(text, at + WIDEST); next < end; next = cut(text, next + WIDEST)) {
      starts.push(next);
      lines.push(0);
    }
    at = end + 1;
  }
  starts.push(at);
  return { starts, lines, widest };
}

/** The same place, or the one before where it would cut a character in two. */
function cut(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** The row in which a place is. */
export function rowAt({ starts }: Rows, place: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= place) low = middle;
    else high = middle;
  }
  return low;
}

/** Places that are found at most. */
const MOST = 20_000;

/** Where words stand in a text, whatever the size of their letters. */
export function placesOf(text: string, words: string): number[] {
  if (words === "") return [];
  const [all, sought] = [lowered(text), lowered(words)];
  const places: number[] = [];
  for (let at = all.indexOf(sought); at >= 0 && places.length < MOST; at = all.indexOf(sought, at + sought.length)) {
    places.push(at);
  }
  return places;
}

/** A text in small letters, each where it was before. */
function lowered(text: string): string {
  const small = text.toLowerCase();
  // A few letters are two when they are small.
  return small.length === text.length
    ? small
    : Array.from(text, (letter) =>
        letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter,
      ).join("");
}
