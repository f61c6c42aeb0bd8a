//! Markdown as elements, made from tokens: nothing of it is ever read as HTML, and nothing is loaded.

import type { Token, Tokens } from "marked";
import { memo, type ReactNode, useState } from "react";
import { CodeBlock } from "./code-block";
import { Growing } from "./growing";

/** Markdown. A text that grows keeps the elements of what is settled. */
export function Markdown({ text, children }: { text: string; children?: ReactNode }) {
  const [growing] = useState(() => new Growing());
  const tokens = growing.read(text);
  let at = 0;
  return (
    <div className="prose">
      {tokens.map((token) => {
        const key = at;
        at += token.raw.length;
        return token.type === "space" ? null : <Piece key={key} token={token} raw={token.raw} />;
      })}
      {children}
    </div>
  );
}

/** A block, drawn again only when it says something else. */
const Piece = memo(
  ({ token }: { token: Token; raw: string }) => <>{block(token)}</>,
  (before, now) => before.raw === now.raw,
);

function block(token: Token): ReactNode {
  switch (token.type) {
    case "paragraph":
      return <p>{inlines(token.tokens)}</p>;
    case "heading": {
      const Level = (["h3", "h4", "h5", "h6"] as const)[Math.min((token as Tokens.Heading).depth, 4) - 1] ?? "h6";
      return <Level>{inlines(token.tokens)}</Level>;
    }
    case "code":
      return <CodeBlock text={(token as Tokens.Code).text} language={(token as Tokens.Code).lang} />;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "text":
      return token.tokens === undefined ? plain((token as Tokens.Text).text) : inlines(token.tokens);
    case "space":
    case "def":
      return null;
    default:
      // HTML is text like any other, and so is what can't be read.
      return <p>{token.raw}</p>;
  }
}

function blocks(tokens: Token[] | undefined): ReactNode {
  return keyed(tokens).map(([key, token]) => <Piece key={key} token={token} raw={token.raw} />);
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const lines = keyed(items).map(([key, item]) => (
    <li key={key} className={item.task ? "task" : undefined}>
      {item.task && <span aria-hidden="true">{item.checked ? "☑ " : "☐ "}</span>}
      {item.loose
        ? blocks(item.tokens)
        : item.tokens.map((token, at) => (
            // A list is drawn anew as a whole.
            // biome-ignore lint/suspicious/noArrayIndexKey: nothing in it keeps a state
            <span key={at} className={token.type === "text" ? undefined : "below"}>
              {block(token)}
            </span>
          ))}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{lines}</ol> : <ul>{lines}</ul>;
}

function table({ header, rows, align }: Tokens.Table): ReactNode {
  const cell = (tokens: Token[], at: number, Cell: "th" | "td") => (
    <Cell key={at} className={align[at] === "right" ? "right" : undefined}>
      {inlines(tokens)}
    </Cell>
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>{header.map(({ tokens }, at) => cell(tokens, at, "th"))}</tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
            <tr key={line}>{row.map(({ tokens }, at) => cell(tokens, at, "td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: Token[] | undefined): ReactNode {
  return keyed(tokens).map(([key, token]) => <Inline key={key} token={token} />);
}

function Inline({ token }: { token: Token }): ReactNode {
  switch (token.type) {
    case "text":
    case "escape":
      return token.type === "text" && token.tokens !== undefined
        ? inlines(token.tokens)
        : plain((token as Tokens.Text).text);
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "link": {
      const { href, tokens } = token as Tokens.Link;
      return <Link href={href}>{inlines(tokens)}</Link>;
    }
    case "image": {
      // A picture of elsewhere is its address until somebody goes there.
      const { href, text } = token as Tokens.Image;
      return <Link href={href}>{text || href}</Link>;
    }
    default:
      return token.raw;
  }
}

/** A link, where its address is one that may be gone to; otherwise its words, and the address beside them. */
function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) {
    return (
      <span className="no-link" title={href}>
        {children}
      </span>
    );
  }
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** The lexer leaves some characters the way HTML writes them. */
function plain(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}

/** Tokens with where they begin: a name that stays while a text grows. */
function keyed<T extends { raw: string }>(tokens: readonly T[] | undefined): [number, T][] {
  let at = 0;
  return (tokens ?? []).map((token) => {
    const key = at;
    at += token.raw.length;
    return [key, token];
  });
}
