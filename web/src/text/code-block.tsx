//! A program in an answer: with its language and a button that copies it.

import { CopyButton } from "../parts/copy-button";

export function CodeBlock({ text, language }: { text: string; language: string | undefined }) {
  const name = language?.split(/\s/, 1)[0];
  return (
    <figure className="well code">
      <header>
        <span className="mono dim">{name}</span>
        <span className="grow" />
        <CopyButton text={text} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="out" tabIndex={0}>
        {text}
      </pre>
    </figure>
  );
}
