//! Between which points is compared, and which file is looked at: all of it stands in the address.

export type Range = { from?: string; to?: string; file?: string };

/** The point that is meant where the address names none: the first message. */
export const FIRST = "1";

/** The point that is meant where no later one is named. */
export const NOW = "now";

export function rangeIn(search: string): Range {
  const given = new URLSearchParams(search);
  const range: Range = {};
  for (const name of ["from", "to", "file"] as const) {
    const value = given.get(name);
    if (value !== null && value !== "") range[name] = value;
  }
  return range;
}

/** The address of a range below the session that is shown; what is usual is left out. */
export function addressOf(path: string, { from, to, file }: Range): string {
  const given = new URLSearchParams();
  if (from !== undefined && from !== FIRST) given.set("from", from);
  if (to !== undefined && to !== NOW) given.set("to", to);
  if (file !== undefined) given.set("file", file);
  return given.size > 0 ? `${path}?${given}` : path;
}

/** Whether what is shown is what the files are now, so that it can go back. */
export const isNow = ({ to }: Range): boolean => to === undefined || to === NOW;
