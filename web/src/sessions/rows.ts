//! Sessions in the order in which a person looks for them: who wants them, who works, then by day.

import type { SessionRow } from "../proto";

export type Group = { kind: "wants" | "works" | "day"; day: number; sessions: SessionRow[] };

const DAY = 24 * 60 * 60 * 1000;

/** The first millisecond of a day. */
export function dayOf(ms: number): number {
  return new Date(ms).setHours(0, 0, 0, 0);
}

export function grouped(sessions: readonly SessionRow[]): Group[] {
  const wants: Group = { kind: "wants", day: 0, sessions: [] };
  const works: Group = { kind: "works", day: 0, sessions: [] };
  const days = new Map<number, Group>();
  for (const session of sessions) {
    if (session.asks === true) wants.sessions.push(session);
    else if (session.state === "open" && (session.work === "running" || session.work === "paused")) {
      works.sessions.push(session);
    } else {
      const day = dayOf(Date.parse(session.updated));
      const group = days.get(day) ?? { kind: "day", day, sessions: [] };
      group.sessions.push(session);
      days.set(day, group);
    }
  }
  return [wants, works, ...days.values()].filter((group) => group.sessions.length > 0);
}

export const isYesterday = (day: number, now: number) => dayOf(dayOf(now) - DAY / 2) === day;

/** The last part of a folder's path. */
export function nameOf(folder: string): string {
  return folder.split(/[\\/]/).filter(Boolean).at(-1) ?? folder;
}
