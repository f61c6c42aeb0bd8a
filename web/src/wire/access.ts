//! Who may come in at the server, and what was done there.

import type { AuditPage, NewToken, Scope, TokenList } from "../proto";
import { get, onceKey, request } from "./http";

/** Lines of a page. */
const LINES = 50;

export const tokens = {
  list: () => get<TokenList>("/tokens"),
  /** Makes one, in place of one that is called so; it is told this once. */
  add: (name: string, scope: Scope) => request<NewToken>("POST", "/tokens", { name, scope }, onceKey()),
  remove: (name: string) => request("DELETE", `/tokens/${encodeURIComponent(name)}`, {}, onceKey()),
};

/** What was done, the newest first; or what those were refused who may do nothing. */
export const audit = (refused: boolean, cursor: string | undefined) =>
  get<AuditPage>("/audit", { limit: LINES, cursor, ...(refused && { refused }) });
