//! Tokens and money, added up.

import type { Usage } from "../proto";

export function noUsage(): Usage {
  return { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
}

const tokens = (count: unknown) => (typeof count === "number" && count > 0 ? count : 0);

/** What was used, with every count in its place. */
export function read(usage: Usage | undefined): Usage {
  const all: Usage = noUsage();
  if (usage !== undefined) add(all, usage);
  return all;
}

export function add(sum: Usage, more: Usage): void {
  sum.input = tokens(sum.input) + tokens(more.input);
  sum.output = tokens(sum.output) + tokens(more.output);
  sum.cache_read = tokens(sum.cache_read) + tokens(more.cache_read);
  sum.cache_write = tokens(sum.cache_write) + tokens(more.cache_write);
  sum.reasoning = tokens(sum.reasoning) + tokens(more.reasoning);
  const unpriced = tokens(sum.unpriced) + tokens(more.unpriced);
  if (unpriced > 0) sum.unpriced = unpriced;
  if (typeof more.cost === "number" && Number.isFinite(more.cost)) sum.cost = (sum.cost ?? 0) + more.cost;
}

export function isNothing(usage: Usage): boolean {
  const { input, output, cache_read, cache_write, reasoning, cost, unpriced } = usage;
  return !(input || output || cache_read || cache_write || reasoning || unpriced) && cost === undefined;
}
