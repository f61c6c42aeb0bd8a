//! The frame: side bar, the view of the address, and who is let in.

import { useEffect, useState } from "react";
import { Link, Redirect, Route, Switch, useRoute } from "wouter";
import { Start } from "../sessions";
import { useLine } from "../wire";
import { LanguageContext, useWords } from "../words";
import { useLanguage, useTheme } from "./choices";
import { Edge } from "./edge";
import { Login } from "./login";
import { Scrim } from "./scrim";
import { SessionPage, StartBar } from "./session-page";
import { Side } from "./side";
import { OfflineStrip } from "./strip";

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
        <Side current={current} isOpen={side} onClose={() => setSide(false)} />
      </Edge>
      <Switch>
        <Route path="/s/:id">{({ id }) => <SessionPage id={id} onSide={onSide} />}</Route>
        <Route path="/s/:id/*">{({ id }) => <Redirect to={`/s/${id}`} replace />}</Route>
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
