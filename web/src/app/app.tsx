//! The frame: side bar, the view of the address, and who is let in.

import { Suspense, useEffect, useState } from "react";
import { Link, Redirect, Route, Switch, useLocation, useRoute } from "wouter";
import { Skeleton } from "../chat";
import { nextTheme, otherLanguage, useKeys, useLanguage, useTheme } from "../parts";
import { Start } from "../sessions";
import { signOut, useLine } from "../wire";
import { LanguageContext, useWords } from "../words";
import { Edge } from "./edge";
import { KeysPage } from "./keys-page";
import { Login } from "./login";
import { Notifier } from "./notifier";
import { type Action, Palette } from "./palette";
import { Scrim } from "./scrim";
import { SessionPage, StartBar } from "./session-page";
import { Side } from "./side";
import { OfflineStrip } from "./strip";
import { PAGES, VIEWS } from "./views";

export function App({ trouble }: { trouble: string | undefined }) {
  const [language] = useLanguage();
  useTheme();
  return (
    <LanguageContext value={language}>
      <Frame trouble={trouble} />
    </LanguageContext>
  );
}

function Frame({ trouble }: { trouble: string | undefined }) {
  const line = useLine();
  const [, given] = useRoute<{ id: string }>("/s/:id/*?");
  const [side, setSide] = useState(false);
  const [sought, setSought] = useState<string>();
  const current = given?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: who went elsewhere does not look at the list any more
  useEffect(() => setSide(false), [current]);
  if (line.kind === "denied") return <Login trouble={trouble} />;
  const onSide = () => setSide(true);
  return (
    <div className="app">
      <OfflineStrip />
      {side && <Scrim onClose={() => setSide(false)} />}
      <Edge name="side">
        <Side current={current} isOpen={side} onSeek={setSought} onClose={() => setSide(false)} />
      </Edge>
      <Overlays sought={sought} onSeek={setSought} />
      <Notifier />
      <Switch>
        <Route path="/s/:id/*?">
          {({ id, "*": rest }) => {
            const name = rest?.split("/", 1)[0];
            const view = VIEWS.find((view) => view.name === name);
            if (name && view === undefined) return <Redirect to={`/s/${id}`} replace />;
            return <SessionPage id={id} view={view} onSide={onSide} />;
          }}
        </Route>
        {PAGES.map(({ name, View }) => (
          <Route key={name} path={`/${name}/*?`}>
            <main className="main home">
              <StartBar onSide={onSide} />
              <Edge name={name}>
                <Suspense fallback={<Skeleton />}>
                  <View />
                </Suspense>
              </Edge>
            </main>
          </Route>
        ))}
        <Route path="/login">
          <Redirect to="/" replace />
        </Route>
        <Route path="/">
          <main className="main home">
            <StartBar onSide={onSide} />
            <Edge name="start">
              <Start />
            </Edge>
          </main>
        </Route>
        <Route>
          <Missing />
        </Route>
      </Switch>
    </div>
  );
}

type OverlaysGiven = {
  /** What the palette begins with, where it is open. */
  sought: string | undefined;
  onSeek: (words: string | undefined) => void;
};

/** What a key brings over everything. */
function Overlays({ sought, onSeek }: OverlaysGiven) {
  const words = useWords();
  const [, go] = useLocation();
  const [isKeys, setKeys] = useState(false);
  const [theme, setTheme] = useTheme();
  const [language, setLanguage] = useLanguage();
  useKeys({ palette: () => onSeek(""), help: () => setKeys(true) });
  if (isKeys) return <KeysPage onClose={() => setKeys(false)} />;
  if (sought === undefined) return null;
  const actions: Action[] = [
    { name: words.newSession, icon: "plus", run: () => go("/") },
    { name: words.palette.nextTheme, icon: "theme", run: () => setTheme(nextTheme(theme)) },
    { name: words.otherLanguage, icon: "words", run: () => setLanguage(otherLanguage(language)) },
    { name: words.signOut, icon: "key", run: () => void signOut().then(() => location.assign("/")) },
    { name: words.palette.keys, icon: "list", run: () => setKeys(true) },
  ];
  return <Palette actions={actions} given={sought} onClose={() => onSeek(undefined)} />;
}

function Missing() {
  const words = useWords();
  return (
    <main className="main">
      <div className="page">
        <h1>{words.missing.title}</h1>
        <p>
          <Link href="/" className="btn">
            {words.missing.home}
          </Link>
        </p>
      </div>
    </main>
  );
}
