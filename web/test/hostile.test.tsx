//! Texts that want to be more than text are elements of ours, and none of theirs.

import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Markdown } from "../src/text/markdown";
import { WRITTEN } from "./journeys/hostile-texts";

/** What a text may become. */
const OURS = new Set(
  "div p h3 h4 h5 h6 ul ol li span strong em del code br hr a blockquote figure header pre button svg path rect table thead tbody tr th td mark".split(
    " ",
  ),
);

it.each(WRITTEN.map(([text, read], at) => [at, text, read] as const))("%i", (_, text, read) => {
  const drawn = renderToStaticMarkup(<Markdown text={text} />);
  const elements = [...drawn.matchAll(/<([a-z][\w:-]*)([^>]*)>/gi)];
  expect(elements.map(([, name]) => name).filter((name) => !OURS.has(name ?? ""))).toEqual([]);
  expect(elements.filter(([, , rest]) => /\son\w+=|\ssrc=|href="(?!https?:|mailto:)/i.test(rest ?? ""))).toEqual([]);
  const words = drawn
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&amp;", "&");
  expect(words).toContain(read);
});
