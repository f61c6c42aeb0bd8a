//! What the model is told, as a list to choose from, and what of it is another than at the last turn.

import type { Message, Part as MessagePart, PromptReport } from "../proto";

/** A part of the prompt: a layer, a tool, a message. */
export type Part = {
  key: string;
  group: "system" | "tools" | "messages";
  /** The name of a layer or tool, or who speaks. */
  name: string;
  /** How it begins, where its name does not say that. */
  begins: string;
  tokens: number;
  share: number;
  text: string;
  notes: readonly string[];
};

export function partsOf({ context, system, tools, messages }: PromptReport): Part[] {
  const sizes = new Map(context.layers.map((size) => [size.layer, size]));
  const whole = Math.max(context.tokens, 1);
  const byId = new Map(context.messages.map((size) => [size.id, size]));
  return [
    ...system.map(({ layer, text }): Part => {
      const size = sizes.get(layer);
      return {
        key: `layer ${layer}`,
        group: "system",
        name: layer,
        begins: "",
        tokens: size?.tokens ?? 0,
        share: size?.share ?? 0,
        text,
        notes: size?.notes ?? [],
      };
    }),
    ...tools.map(
      ({ name, description, schema, tokens }): Part => ({
        key: `tool ${name}`,
        group: "tools",
        name,
        begins: "",
        tokens,
        share: (tokens * 100) / whole,
        text: `${description}\n\n${JSON.stringify(schema, null, 2)}`,
        notes: [],
      }),
    ),
    ...messages.map((message): Part => {
      const size = byId.get(message.id);
      return {
        key: `message ${message.id}`,
        group: "messages",
        name: message.role,
        begins: size?.begins ?? "",
        tokens: size?.tokens ?? 0,
        share: size?.share ?? 0,
        text: textOf(message),
        notes: [],
      };
    }),
  ];
}

/** All that stands in a message, part after part. */
function textOf({ parts }: Message): string {
  return parts.map(textOfPart).join("\n\n");
}

function textOfPart(part: MessagePart): string {
  switch (part.kind) {
    case "text":
    case "reasoning":
      return part.text;
    case "image":
      return `[${part.media_type}]`;
    case "tool_call":
      return `${part.name} ${part.arguments}`;
    case "tool_result":
      return part.output;
  }
}

export type Difference = { came: ReadonlySet<number>; went: number };

/** The lines of a text, by their numbers, that another did not have, and how many of that are gone. */
export function differenceOf(before: string, now: string): Difference {
  const left = new Map<string, number>();
  for (const line of before.split("\n")) left.set(line, (left.get(line) ?? 0) + 1);
  const came = new Set<number>();
  now.split("\n").forEach((line, at) => {
    const count = left.get(line) ?? 0;
    if (count === 0) came.add(at + 1);
    else left.set(line, count - 1);
  });
  return { came, went: [...left.values()].reduce((sum, count) => sum + count, 0) };
}
