//! Colours of programs: asked of a worker for what is seen and has come to rest, and never waited for.

import { type RefObject, useEffect, useState } from "react";
import type { Asked, Told } from "../../workers/highlight";
import { Asker } from "../parts/worker";

/** Parts of a text that look otherwise: three numbers each (first code unit, the one after the last, which name), and the
 * names of classes that these mean. */
export type Parts = { at: Uint32Array; names: readonly string[] };

/** The classes of the kinds, as the worker numbers them. */
const NAMES = ["k", "f", "t", "st", "n_", "c"];

/** A text that is longer has no colours. */
const LONGEST = 4 * 1024 * 1024;

/** How long a text is the same, and seen, before it is coloured, in milliseconds. */
export const REST = 120;

/** Characters of texts whose colours are kept. */
const KEPT = 16 * 1024 * 1024;

type Known = { text: string; parts: Parts };

const known = new Map<string, Known>();
const worker = new Asker<Omit<Asked, "id">, Told>("highlight");
let kept = 0;

const nameOf = (text: string, language: string) => `${language}\n${text}`;

function knownOf(text: string, language: string | undefined): Known | undefined {
  return language === undefined ? undefined : known.get(nameOf(text, language));
}

function keep(name: string, entry: Known): void {
  known.set(name, entry);
  kept += entry.text.length;
  for (const [oldest, { text }] of known) {
    if (kept <= KEPT) break;
    known.delete(oldest);
    kept -= text.length;
  }
}

function ask(text: string, language: string, heard: (known: Known) => void): void {
  worker.ask({ text, language }, (told) => {
    if (told === undefined) return;
    const entry = { text, parts: { at: told.parts, names: NAMES } };
    keep(nameOf(text, language), entry);
    heard(entry);
  });
}

/** Asks for the coloured parts of a text, which may be known already; of one that is too long they never come. */
export function partsOf(text: string, language: string, heard: (parts: Parts) => void): void {
  const already = knownOf(text, language);
  if (already !== undefined) heard(already.parts);
  else if (text !== "" && text.length <= LONGEST) ask(text, language, ({ parts }) => heard(parts));
}

/** The coloured parts of a text in a language, or of the file of a path, once its place was seen. Of a text that grows
 * they are those of what it was before. */
export function useColours(
  place: RefObject<Element | null>,
  text: string,
  language: string | undefined,
): Parts | undefined {
  const [told, setTold] = useState(() => knownOf(text, language));
  useEffect(() => {
    const element = place.current;
    if (language === undefined || language === "" || text === "" || text.length > LONGEST || element === null) return;
    const already = knownOf(text, language);
    if (already !== undefined) return setTold(already);
    let timer: number | undefined;
    const observer = new IntersectionObserver((entries) => {
      clearTimeout(timer);
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      timer = window.setTimeout(() => {
        observer.disconnect();
        ask(text, language, setTold);
      }, REST);
    });
    observer.observe(element);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [place, text, language]);
  return told !== undefined && text.startsWith(told.text) ? told.parts : undefined;
}
