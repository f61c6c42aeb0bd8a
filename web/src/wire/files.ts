//! Files of a project: their names, what stands in them, and how a session changed them.

import { get } from "./http";

/** Names of the files and folders below a folder; those of folders end with a slash. */
export const listFiles = (folder: string) => get<{ names: string[] }>("/files", { folder }).then(({ names }) => names);

/** Bytes of a file that are read at a time. */
const PIECE = 1024 * 1024;

/** A piece of a file: its text, how many bytes the file has, and where the next piece begins, unless this is the last. */
export type FilePiece = { text: string; total: number; next: number | undefined };

export async function readFile(folder: string, path: string, start: number): Promise<FilePiece> {
  const told = await get<{ text: string; end: number; total: number }>("/files/text", {
    folder,
    path,
    start,
    end: start + PIECE,
  });
  return { text: told.text, total: told.total, next: told.end < told.total ? told.end : undefined };
}

/** The files that are different since a session began, each as a unified diff. */
export const sessionDiff = (session: string, folder: string) =>
  get<{ files: { path: string; diff: string }[] }>(`/sessions/${session}/diff`, { folder });
