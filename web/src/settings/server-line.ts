//! A server as a person writes it on one line: an address, a command line, or JSON from elsewhere.

import type { Json } from "../proto";

/** What settings have for it; nothing while it is not whole. */
export function serverIn(line: string): Json | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (text.startsWith("{")) return json(text);
  if (/^https?:\/\//.test(text)) return { url: text };
  const words = wordsIn(text);
  if (words === undefined) return undefined;
  const env: Record<string, string> = {};
  // What stands in front as in a shell: `KEY=value npx server`.
  while (/^[A-Za-z_]\w*=/.test(words[0] ?? "")) {
    const [name = "", ...value] = (words.shift() ?? "").split("=");
    env[name] = value.join("=");
  }
  const [command, ...args] = words;
  if (command === undefined) return undefined;
  return { command, args, ...(Object.keys(env).length > 0 && { env }) };
}

function json(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The words of a command line; nothing while a quote is open. */
function wordsIn(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (const sign of line) {
    if (quote !== "") {
      if (sign === quote) quote = "";
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= "";
    } else if (/\s/.test(sign)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? "") + sign;
    }
  }
  if (quote !== "") return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
