//! A program in an answer: with its language, its colours, and a button that copies it.

import { useRef } from "react";
import { CopyButton } from "../parts/copy-button";
import { Coloured } from "./coloured";
import { useColours } from "./colours";

/** A program that is longer stands there without colours. */
const LONGEST = 60_000;

export function CodeBlock({ text, language }: { text: string; language: string | undefined }) {
  const name = language?.split(/[\s,{:]/, 1)[0];
  const place = useRef<HTMLPreElement>(null);
  const parts = useColours(place, text, text.length > LONGEST ? undefined : name);
  return (
    <figure className="well code">
      <header>
        <span className="mono dim">{name}</span>
        <span className="grow" />
        <CopyButton text={text} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre ref={place} className="out" tabIndex={0}>
        <Coloured text={text} parts={parts} />
      </pre>
    </figure>
  );
}
