//! Sessions that are made and opened, and the other things that are asked of the program.

import type { ApprovalMode, Branch, FoundPlaces, Mode, RecentFolders } from "../proto";
import { get, onceKey, request } from "./http";

export type Opened = { id: string; folder: string; since: number; was_open: boolean; notes?: string[] };

export type NewSession = { folder: string; model?: string; mode?: Mode; approval?: ApprovalMode };

/** Makes a session in a folder, for a person who is there. */
export function makeSession(wanted: NewSession): Promise<Opened> {
  const body = { ...wanted, which: "new", attended: true, interactive: true };
  return request("POST", "/sessions", body, onceKey());
}

export const recentFolders = () => get<RecentFolders>("/sessions/folders", { limit: 12 });

/** Places in all sessions where words were said, the newest first. */
export const findPlaces = (words: string) => get<FoundPlaces>("/sessions/search", { words, limit: 8 });

export const branch = (folder: string) => get<Branch>("/files/branch", { folder });
