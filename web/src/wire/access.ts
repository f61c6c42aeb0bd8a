//! Who may come in at the server, and what was done there.

import type { Actor } from "../proto";
import { get, onceKey, request } from "./http";

/** How much somebody may do at most. These types are to be replaced by generated ones. */
export type Scope = "read" | "work" | "manage";

export type TokenRow = { name: string; scope: string };

export type AuditLine = {
  at: string;
  by?: Actor | null;
  scope?: string | null;
  /** A call, a command of a session, or what was asked by whoever was turned away. */
  does: string;
  session?: string | null;
  from?: string | null;
  /** The token that is made or removed; empty is the person's own. */
  token?: string | null;
  refused?: string | null;
};

export type AuditPage = { lines: AuditLine[]; next?: string | null };

/** Lines of a page. */
const LINES = 50;

export const tokens = {
  list: () => get<{ tokens: TokenRow[] }>("/tokens"),
  /** Makes one, in place of one that is called so; it is told this once. */
  add: (name: string, scope: Scope) => request<{ token: string }>("POST", "/tokens", { name, scope }, onceKey()),
  remove: (name: string) => request("DELETE", `/tokens/${encodeURIComponent(name)}`, {}, onceKey()),
};

/** What was done, the newest first; or what those were refused who may do nothing. */
export const audit = (refused: boolean, cursor: string | undefined) =>
  get<AuditPage>("/audit", { limit: LINES, cursor, ...(refused && { refused }) });
