//! What is asked of a session, and bytes of it that are too many to stand in an event.

import type { Answer, Query } from "../proto";
import { get, request } from "./http";

/** Asks a session; the answer is of the type of the question. */
export function ask<T extends Query["type"]>(
  session: string,
  query: Extract<Query, { type: T }>,
): Promise<Extract<Answer, { type: T }>> {
  return request("POST", `/sessions/${session}/queries`, query);
}

export type Piece = { bytes: Uint8Array; total: number };

/** Bytes that belong to an event: all of an output that was too big for the model, from one byte to before another. */
export async function bytesOf(session: string, seq: number, start: number, end: number): Promise<Piece> {
  const piece = await get<{ bytes: string; total: number }>(`/sessions/${session}/events/${seq}/bytes`, { start, end });
  return { bytes: Uint8Array.from(atob(piece.bytes), (letter) => letter.charCodeAt(0)), total: piece.total };
}
