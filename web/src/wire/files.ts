//! Files of a project: their names, what stands in them, and how a session changed them.

import { get } from "./http";

/** Names of the files and folders below a folder; those of folders end with a slash. */
export const listFiles = (folder: string) => get<{ names: string[] }>("/files", { folder }).then(({ names }) => names);

/** A piece of a file: its text, unless it is none, how many bytes the file has, and where the next piece begins, unless
 * this is the last. */
export type FilePiece = { text: string; isBinary: boolean; total: number; next: number | undefined };

type Told = { text: string; binary?: boolean; end: number; total: number };

/** Reads a file from a byte on, as much of it as comes at once. */
export async function readFile(folder: string, path: string, start: number): Promise<FilePiece> {
  const { text, binary, end, total } = await get<Told>("/files/text", { folder, path, start });
  const isBinary = binary === true;
  return { text, isBinary, total, next: isBinary || end >= total || end <= start ? undefined : end };
}

/** The files that are different since a session began, each as a unified diff. */
export const sessionDiff = (session: string, folder: string) =>
  get<{ files: { path: string; diff: string }[] }>(`/sessions/${session}/diff`, { folder });
