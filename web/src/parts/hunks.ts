//! A unified diff as lines with their numbers, and within a changed pair of lines what differs.

export type DiffLine = {
  kind: "same" | "add" | "del";
  old?: number;
  now?: number;
  text: string;
  /** From where to where it differs from the line that it stands for. */
  mark?: [from: number, to: number];
};

export type Hunk = { lines: DiffLine[] };

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function hunks(unified: string): Hunk[] {
  const all: Hunk[] = [];
  let old = 0;
  let now = 0;
  const text = unified.endsWith("\n") ? unified.slice(0, -1) : unified;
  for (const line of text.split("\n")) {
    const head = HEAD.exec(line);
    if (head !== null) {
      old = Number(head[1]);
      now = Number(head[2]);
      all.push({ lines: [] });
      continue;
    }
    const hunk = all.at(-1);
    if (hunk === undefined || line.startsWith("\\")) continue;
    const rest = line.slice(1);
    if (line.startsWith("+")) hunk.lines.push({ kind: "add", now: now++, text: rest });
    else if (line.startsWith("-")) hunk.lines.push({ kind: "del", old: old++, text: rest });
    else hunk.lines.push({ kind: "same", old: old++, now: now++, text: rest });
  }
  for (const { lines } of all) mark(lines);
  return all;
}

/** Marks what differs where as many lines came as went, line by line. */
function mark(lines: DiffLine[]): void {
  for (let at = 0; at < lines.length; ) {
    const gone = run(lines, at, "del");
    const came = run(lines, at + gone, "add");
    if (gone > 0 && gone === came) {
      for (let each = 0; each < gone; each++) pair(lines[at + each], lines[at + gone + each]);
    }
    at += Math.max(gone + came, 1);
  }
}

function run(lines: DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let at = from;
  while (lines[at]?.kind === kind) at += 1;
  return at - from;
}

function pair(gone: DiffLine | undefined, came: DiffLine | undefined): void {
  if (gone === undefined || came === undefined) return;
  const least = Math.min(gone.text.length, came.text.length);
  let head = 0;
  while (head < least && gone.text[head] === came.text[head]) head += 1;
  let tail = 0;
  while (tail < least - head && gone.text.at(-1 - tail) === came.text.at(-1 - tail)) tail += 1;
  // Lines that have little in common are other lines.
  if (gone.text.slice(0, head).trim().length + tail < least / 3) return;
  if (gone.text.length > head + tail) gone.mark = [head, gone.text.length - tail];
  if (came.text.length > head + tail) came.mark = [head, came.text.length - tail];
}
