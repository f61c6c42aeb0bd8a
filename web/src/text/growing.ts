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
    this.#tokens = [...kept, ...new Lexer({ gfm: true }).lex(text.slice(from))];
    return this.#tokens;
  }
}
