//! What this browser was told about looks: theme and language.

import { useLayoutEffect } from "react";
import { LANGUAGES, type Language, usualLanguage } from "../words";
import { useStored } from "./stored";

export const THEMES = ["system", "light", "dark"] as const;

export type Theme = (typeof THEMES)[number];

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [kept, keep] = useStored("theme");
  const theme = THEMES.find((each) => each === kept) ?? "system";
  useLayoutEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return [theme, (theme) => keep(theme === "system" ? null : theme)];
}

export function useLanguage(): [Language, (language: Language) => void] {
  const [kept, keep] = useStored("language");
  const language = LANGUAGES.find((each) => each === kept) ?? usualLanguage();
  useLayoutEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  }, [language]);
  return [language, keep];
}

export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";

export const otherLanguage = (language: Language): Language => (language === "en" ? "zh" : "en");
