//! What went wrong, and what to do next, as the server says it.

import { Problem } from "../wire";

export function wordsOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

/** What helps, where the server knows something. */
export function saysNext(problem: unknown): string | undefined {
  return problem instanceof Problem ? problem.hint : undefined;
}
