//! What the page says, in the language of whoever reads, and numbers and times as they are written there.

import { createContext, useContext } from "react";
import { en } from "./en";
import { Format } from "./format";
import type { Like } from "./like";
import { zh } from "./zh";

/** All words, as every language has them. */
export type Words = Like<typeof en>;

export const LANGUAGES = ["en", "zh"] as const;

export type Language = (typeof LANGUAGES)[number];

export const WORDS: Record<Language, Words> = { en, zh };

export const FORMATS: Record<Language, Format> = { en: new Format("en"), zh: new Format("zh") };

/** The language that is read when nobody chose one. */
export function usualLanguage(): Language {
  return navigator.languages.some((language) => language.toLowerCase().startsWith("zh")) &&
    !navigator.language.toLowerCase().startsWith("en")
    ? "zh"
    : "en";
}

export const LanguageContext = createContext<Language>("en");

export const useWords = (): Words => WORDS[useContext(LanguageContext)];

export const useFormat = (): Format => FORMATS[useContext(LanguageContext)];

export type { Format };
