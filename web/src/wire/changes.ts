//! What a session changed: looked at, marked as kept, and what its tools are for.

import type { FileChanges, KeepChanges, KeptChanges, RewindPoints, SessionChanges, ToolList } from "../proto";
import { get, request } from "./http";

/** Between which points of a session something is compared; as the server names them. */
export type Span = { from?: string | undefined; to?: string | undefined };

/** The files of a session that are different between two points, without their lines. */
export const changesOf = (session: string, folder: string, span: Span) =>
  get<SessionChanges>(`/sessions/${session}/changes`, { folder, ...span });

/** The lines of one of them. */
export const changeOf = (session: string, folder: string, path: string, span: Span) =>
  get<FileChanges>(`/sessions/${session}/changes/file`, { folder, path, ...span });

/** Marks what was looked at as kept, or takes that back. */
export const keepMarks = (session: string, folder: string, said: Omit<KeepChanges, "session" | "folder">) =>
  request<KeptChanges>("PUT", `/sessions/${session}/review`, { folder, ...said });

/** Lines of a file as it is now; fewer where they are very long. */
export async function readLines(folder: string, path: string, line: number, lines: number): Promise<string[]> {
  const { text } = await get<{ text: string }>("/files/text", { folder, path, line, lines });
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** The messages since which something can have changed. */
export const rewindPoints = (session: string) => get<RewindPoints>(`/sessions/${session}/rewind_points`);

/** The tools that an agent in a folder has, with what they are for. */
export const toolsOf = (folder: string) => get<ToolList>("/tools", { folder, all: true });
