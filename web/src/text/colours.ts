//! Colours of programs: asked of a worker for what is seen and has come to rest, and never waited for.

import { type RefObject, useEffect, useState } from "react";
import type { Asked, Told } from "../../work/highlight";
import address from "../../work/highlight?worker&url";

/** Parts of a text that look otherwise: three numbers each (first code unit, the one after the last, which name), and the
 * names of classes that these mean. */
export type Parts = { at: Uint32Array; names: readonly string[] };

/** The classes of the kinds, as the worker numbers them. */
const NAMES = ["k", "f", "t", "st", "n_", "c"];

/** A text that is longer has no colours. */
const LONGEST = 4 * 1024 * 1024;

/** How long a text is the same, and seen, before it is coloured, in milliseconds. */
const REST = 120;

/** Characters of texts whose colours are kept. */
const KEPT = 16 * 1024 * 1024;

type Known = { text: string; parts: Parts };

const known = new Map<string, Known>();
const asked = new Map<number, (at: Uint32Array) => void>();
let kept = 0;
let next = 1;

/** Nothing before the first question, null where no worker can be had: texts have no colours then. */
let worker: Worker | null | undefined;

type Policy = { createScriptURL: (given: string) => string };

/** The one address that a worker may be made from, where the browser asks for a policy. */
function allowed(): string {
  const { trustedTypes } = window as unknown as {
    trustedTypes?: { createPolicy: (name: string, rules: Policy) => Policy };
  };
  const createScriptURL = (given: string) => {
    if (given !== address) throw new TypeError("that is no worker of ours");
    return given;
  };
  return trustedTypes?.createPolicy("neco", { createScriptURL }).createScriptURL(address) ?? address;
}

function started(): Worker | null {
  try {
    const made = new Worker(allowed(), { type: "module" });
    made.onmessage = ({ data: { id, parts } }: MessageEvent<Told>) => {
      asked.get(id)?.(parts);
      asked.delete(id);
    };
    made.onerror = () => {
      worker = null;
      asked.clear();
    };
    return made;
  } catch {
    return null;
  }
}

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
  worker ??= worker === null ? null : started();
  if (worker === null) return;
  const id = next++;
  asked.set(id, (at) => {
    const entry = { text, parts: { at, names: NAMES } };
    keep(nameOf(text, language), entry);
    heard(entry);
  });
  const question: Asked = { id, text, language };
  worker.postMessage(question);
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
