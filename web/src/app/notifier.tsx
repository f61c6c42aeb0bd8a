//! Tells who looks elsewhere that a session asks them something, or is done: only where they wanted that.

import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { Icon, useWish } from "../parts";
import type { SessionRow } from "../proto";
import { nameOf } from "../sessions";
import { useRows } from "../wire";
import { useWords } from "../words";

export function NotifyRow() {
  const words = useWords();
  const { wants, isPossible, isRefused, set } = useWish();
  if (!isPossible || isRefused) return null;
  return (
    <button type="button" className="row" aria-pressed={wants} onClick={() => set(!wants)}>
      <Icon name="bell" />
      {wants ? words.notify.on : words.notify.off}
    </button>
  );
}

/** Watches all sessions; draws nothing. */
export function Notifier() {
  const words = useWords();
  const [, go] = useLocation();
  const { wants } = useWish();
  const rows = useRows();
  const before = useRef<Map<string, SessionRow>>(undefined);
  useEffect(() => {
    if (rows === undefined) return;
    const known = before.current;
    before.current = new Map(rows.map((row) => [row.id, row]));
    if (!wants || known === undefined || document.visibilityState === "visible") return;
    for (const row of rows) {
      const was = known.get(row.id);
      const asks = row.asks === true && was?.asks !== true;
      const ended = was?.work === "running" && (row.work === "completed" || row.work === "failed");
      if (!asks && !ended) continue;
      const body = asks ? words.asksYou : row.work === "failed" ? words.told.failed : words.told.done;
      const told = new Notification(row.title || words.untitled, { body: `${body} · ${nameOf(row.cwd)}`, tag: row.id });
      told.onclick = () => {
        window.focus();
        go(`/s/${row.id}`);
      };
    }
  }, [rows, wants, words, go]);
  return null;
}
