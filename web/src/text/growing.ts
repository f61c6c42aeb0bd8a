//! Markdown that grows at its end: what is settled is not read again.

import { Lexer, type Token } from "marked";

/** Blocks at the end that what comes next may still change. */
const OPEN = 2;

export class Growing {
  #text = "";
  #tokens: Token[] = [];

  /** The tokens of a text that begins like the one before; another one is read anew. */
  read(text: string): readonly Token[] {
    if (text === this.#text) return this.#tokens;
    let kept: Token[] = [];
    if (this.#text !== "" && text.startsWith(this.#text)) {
      let open = 0;
      let end = this.#tokens.length;
      while (end > 0 && open < OPEN) {
        end -= 1;
        if (this.#tokens[end]?.type !== "space") open += 1;
      }
      kept = this.#tokens.slice(0, end);
    }
    const from = kept.reduce((sum, token) => sum + token.raw.length, 0);
    this.#text = text;
    this.#tokens = [...kept, ...lexed(text.slice(from))];
    return this.#tokens;
  }
}

/** Quotes in quotes and lists in lists that nobody writes for somebody to read: a reader may take forever for them. */
const DEEP = /^(?:[ \t]*>){50}|^[ \t]{100,}(?:[-*+]|\d+[.)])[ \t]/m;

function lexed(text: string): Token[] {
  if (!DEEP.test(text)) {
    try {
      return new Lexer({ gfm: true }).lex(text);
    } catch {
      // What is too deep for it in another way is shown as it is, too.
    }
  }
  return [{ type: "plain", raw: text }];
}
