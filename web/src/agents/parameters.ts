//! What a form of limits asks for.

import type { AgentParameters } from "../proto";

/** What was written into the form. */
export type Wanted = { model: string; tokens: string; cost: string; tools: string };

/** The parameters that differ from those of an agent; nothing where a limit is no number. */
export function parametersOf(wanted: Wanted, model: string): AgentParameters | undefined {
  const number = (text: string) => (text.trim() === "" ? undefined : Number(text));
  const [tokens, cost] = [number(wanted.tokens), number(wanted.cost)];
  for (const limit of [tokens, cost]) {
    if (limit !== undefined && !(Number.isFinite(limit) && limit > 0)) return undefined;
  }
  if (tokens !== undefined && !Number.isInteger(tokens)) return undefined;
  const tools = wanted.tools.split(/[\s,]+/).filter(Boolean);
  return {
    ...(wanted.model.trim() !== "" && wanted.model.trim() !== model && { model_group: wanted.model.trim() }),
    ...((tokens !== undefined || cost !== undefined) && {
      budget: { ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost }) },
    }),
    ...(tools.length > 0 && { tools }),
  };
}
