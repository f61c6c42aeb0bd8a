//! The side bar: where we are, all sessions, and how the page looks.

import { useRef, useState } from "react";
import { Link, useLocation, useRoute } from "wouter";
import { Icon, Key, Mark, nextTheme, otherLanguage, useKeyOf, useKeys, useLanguage, useTheme } from "../parts";
import { SessionList } from "../sessions";
import { useWords } from "../words";
import { NotifyRow } from "./notifier";
import { PAGES, type Page } from "./views";

export function Side({
  current,
  isOpen,
  onSeek,
  onClose,
}: {
  current: string | undefined;
  isOpen: boolean;
  onSeek: (words: string) => void;
  onClose: () => void;
}) {
  const words = useWords();
  const [, go] = useLocation();
  const [filter, setFilter] = useState("");
  const [theme, setTheme] = useTheme();
  const [language, setLanguage] = useLanguage();
  const newKey = useKeyOf("new");
  const search = useRef<HTMLInputElement>(null);
  useKeys({
    search: () => search.current?.focus(),
    new: () => go("/"),
  });
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a link that is chosen by key is clicked, too
    <aside
      className={isOpen ? "side open" : "side"}
      aria-label={words.sessions}
      onClick={(event) => event.target instanceof Element && event.target.closest("a") !== null && onClose()}
    >
      <div className="brand">
        <Link href="/" className="home">
          <Mark />
          <b>{words.app}</b>
        </Link>
        <span className="grow" />
        <button type="button" className="btn icon ghost closes" aria-label={words.close} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="acts">
        <label className="field">
          <Icon name="find" small />
          <input
            ref={search}
            type="search"
            aria-label={words.search}
            placeholder={words.search}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              setFilter("");
              event.currentTarget.blur();
            }}
          />
          <Key of="search" />
        </label>
        <Link
          href="/"
          className="btn icon"
          aria-label={words.newSession}
          title={words.keys.named(words.newSession, newKey)}
        >
          <Icon name="plus" />
        </Link>
      </div>
      <SessionList current={current} filter={filter} onSeek={onSeek} />
      <div className="foot">
        {PAGES.length > 0 && (
          <nav aria-label={words.everythingElse}>
            {PAGES.map((page) => (
              <PageRow key={page.name} {...page} />
            ))}
          </nav>
        )}
        <NotifyRow />
        <button type="button" className="row" onClick={() => setTheme(nextTheme(theme))}>
          <Icon name="theme" />
          {words.themeOf[theme]}
        </button>
        <button
          type="button"
          className="row"
          lang={language === "en" ? "zh-Hans" : "en"}
          onClick={() => setLanguage(otherLanguage(language))}
        >
          <Icon name="words" />
          {words.otherLanguage}
        </button>
      </div>
    </aside>
  );
}

function PageRow({ name, icon }: Page) {
  const words = useWords();
  const [isHere] = useRoute(`/${name}/*?`);
  return (
    <Link href={`/${name}`} className="row" aria-current={isHere ? "page" : undefined}>
      <Icon name={icon} />
      {words.pages[name]}
    </Link>
  );
}
