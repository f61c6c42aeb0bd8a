//! Sessions that are made and opened, and the other things that are asked of the program.

import type { ApprovalMode, Branch, Mode, ModelList, RecentFolders, SessionPage } from "../proto";
import { get, onceKey, request } from "./http";

export type Opened = { id: string; folder: string; since: number; was_open: boolean; notes?: string[] };

export type NewSession = { folder: string; model?: string; mode?: Mode; approval?: ApprovalMode };

/** Makes a session in a folder, for a person who is there. */
export function makeSession(wanted: NewSession): Promise<Opened> {
  const body = { ...wanted, which: "new", attended: true, interactive: true };
  return request("POST", "/sessions", body, onceKey());
}

export const recentFolders = () => get<RecentFolders>("/sessions/folders", { limit: 12 });

export const findSessions = (cursor?: string) => get<SessionPage>("/sessions", { limit: 100, states: true, cursor });

export const models = (folder: string) => get<ModelList>("/models", { folder });

export const branch = (folder: string) => get<Branch>("/files/branch", { folder });
