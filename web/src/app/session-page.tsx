//! A session: its bar, the conversation, what it asks, the field, and what belongs to it.

import { useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { AskedAndField, Dock, openAsks } from "../asked";
import { Inspector, Log, Skeleton } from "../chat";
import { Composer } from "../composer";
import { workOf } from "../fold";
import { Icon, useKeyOf, useKeys } from "../parts";
import { nameOf } from "../sessions";
import {
  branch,
  SessionContext,
  useEnded,
  useFollowed,
  useIsLive,
  useLine,
  useSeq,
  useSession,
  useSlices,
  useWire,
} from "../wire";
import { useFormat, useWords } from "../words";
import { Edge } from "./edge";
import { Scrim } from "./scrim";
import { PhoneTabs, Tabs } from "./tabs";
import { useTitle } from "./title";
import { type SessionView, VIEWS } from "./views";

/** Without a view it is the conversation. */
type Given = { id: string; view: SessionView | undefined; onSide: () => void };

export function SessionPage({ id, view, onSide }: Given) {
  const session = useFollowed(id);
  const [, go] = useLocation();
  const [details, setDetails] = useState(false);
  useKeys({
    details: () => setDetails(!details),
    toChat: () => go(`/s/${id}`),
    ...Object.fromEntries(VIEWS.map(({ name, goes }) => [goes, () => go(`/s/${id}/${name}`)])),
  });
  return (
    <SessionContext value={session}>
      <Title />
      <main className="main">
        <PhoneBar onSide={onSide} onDetails={() => setDetails(true)} />
        <Bar id={id} view={view} onDetails={() => setDetails(!details)} />
        <EndedStrip />
        <Edge name={`${view?.name ?? "chat"} ${id}`}>
          {view === undefined ? (
            <Log key={id} />
          ) : (
            <Suspense fallback={<Skeleton />}>
              <view.View key={id} />
            </Suspense>
          )}
        </Edge>
        <AskedAndField key={`answer ${id}`}>
          <Edge name={`asked ${id}`}>
            <Dock />
          </Edge>
          {view === undefined && <Composer />}
        </AskedAndField>
        <PhoneTabs id={id} view={view} />
      </main>
      {details && <Scrim onClose={() => setDetails(false)} />}
      <div className={`about${details ? " open" : ""}${view === undefined ? "" : " over"}`}>
        <button
          type="button"
          className="btn icon ghost closes"
          aria-label={useWords().close}
          onClick={() => setDetails(false)}
        >
          <Icon name="cross" />
        </button>
        <Edge name={`about ${id}`}>
          <Inspector />
        </Edge>
      </div>
      <Status />
    </SessionContext>
  );
}

/** What the session is called: by its title, or by the first words that were said. */
function useName(): string {
  const words = useWords();
  const view = useSlices("standing", "said");
  return view.title || view.counting.said[0]?.words || words.untitled;
}

const TITLES = { running: "works", paused: "paused", rests: "rests" } as const;

/** The title of the tab, with a sign of who waits for whom. */
function Title() {
  const name = useName();
  const view = useSlices("standing", "agents", "asked", "said");
  useTitle(name, openAsks(view).length > 0 ? "asks" : TITLES[workOf(view) ?? "rests"]);
  return null;
}

function useStop() {
  const session = useSession();
  const view = useSlices("standing", "agents");
  const rootWorks = view.standing.since_ms !== undefined;
  const works = workOf(view) === "running";
  const stop = () => {
    if (works) session.send({ type: rootWorks ? "cancel" : "stop_all" }).catch(() => {});
  };
  return { works, stop };
}

function Bar({ id, view: shown, onDetails }: { id: string; view: SessionView | undefined; onDetails: () => void }) {
  const words = useWords();
  const name = useName();
  const view = useSlices("standing");
  const { works, stop } = useStop();
  const isLive = useIsLive();
  const shell = useWire().shell(id);
  const leave = ({ target }: KeyboardEvent) => {
    // What is over the stage is closed first.
    if (document.querySelector(".scrim")?.checkVisibility() === true) return false;
    if (shell.stop()) return true;
    // Fields of the dock and the side bar have their own way out.
    if (!works || (target instanceof HTMLElement && target.closest(".write, .side") !== null)) return false;
    stop();
    return true;
  };
  useKeys({
    Escape: leave,
  });
  return (
    <header className="bar">
      <h1 className="cut">{name}</h1>
      <span className="dim cut" title={view.standing.cwd}>
        {nameOf(view.standing.cwd)}
      </span>
      <Tabs id={id} view={shown} />
      <span className="grow" />
      {works && (
        <button type="button" className="btn" title={words.stopTheWork} disabled={!isLive} onClick={stop}>
          <Icon name="stop" small />
          {words.stop} <kbd>Esc</kbd>
        </button>
      )}
      <button
        type="button"
        className="btn icon ghost details"
        aria-label={words.showDetails}
        title={words.keys.named(words.showDetails, useKeyOf("details"))}
        onClick={onDetails}
      >
        <Icon name="split" />
      </button>
    </header>
  );
}

function PhoneBar({ onSide, onDetails }: { onSide: () => void; onDetails: () => void }) {
  const words = useWords();
  const name = useName();
  const format = useFormat();
  const view = useSlices("standing");
  const { works, stop } = useStop();
  const { context, usage, iteration } = view.standing;
  const facts = [
    iteration > 0 ? words.status.turn(iteration) : "",
    context === undefined ? "" : words.status.full(Math.min(100, Math.floor((context.tokens * 100) / context.window))),
    format.spent(usage) ?? "",
  ];
  return (
    <header className="phone-bar">
      <button type="button" className="btn icon" aria-label={words.backToSessions} onClick={onSide}>
        <Icon name="left" />
      </button>
      <div className="grow">
        <h1 className="cut">{name}</h1>
        <small>
          {works && <span className="pulse" />}
          {facts.filter(Boolean).join(" · ")}
        </small>
      </div>
      {works && (
        <button type="button" className="btn icon" aria-label={words.stopTheWork} onClick={stop}>
          <Icon name="stop" />
        </button>
      )}
      <button type="button" className="btn icon" aria-label={words.showDetails} onClick={onDetails}>
        <Icon name="list" />
      </button>
    </header>
  );
}

function EndedStrip() {
  const words = useWords();
  const session = useSession();
  const ended = useEnded();
  if (ended === undefined) return null;
  return (
    <div className="strip" role="status">
      <Icon name="eye" small />
      <span className="cut">{ended === "" ? words.strip.ended : words.strip.endedWhy(ended)}</span>
      <span className="grow" />
      <button type="button" className="btn small" onClick={() => session.again()}>
        {words.strip.openAgain}
      </button>
    </div>
  );
}

function Status() {
  const words = useWords();
  const format = useFormat();
  const seq = useSeq();
  const view = useSlices("standing");
  const line = useLine();
  const { standing } = view;
  const { data } = useQuery({
    queryKey: ["branch", standing.cwd],
    queryFn: () => branch(standing.cwd),
    enabled: standing.cwd !== "",
    staleTime: 30_000,
  });
  const { usage } = standing;
  const cached = usage.input === 0 ? 0 : Math.round(((usage.cache_read ?? 0) * 100) / usage.input);
  const spent = format.spent(usage);
  const box =
    standing.sandbox === "none" || standing.sandbox === ""
      ? words.status.box.none
      : words.status.box.other(standing.sandbox);
  return (
    <footer className="status">
      <span>
        <span className={line.kind === "live" ? "pulse" : "pulse off"} />
        {line.kind === "live"
          ? words.status.live
          : line.kind === "connecting"
            ? words.status.connecting
            : words.status.lost}
      </span>
      <span className="num">{words.status.event(format.count(seq))}</span>
      <span className="sep" />
      <span className="cut">
        <Icon name="box" small />
        <span className="cut">{box}</span>
      </span>
      {data?.name != null && (
        <>
          <span className="sep" />
          <span>
            <Icon name="branch" small />
            {data.name}
          </span>
        </>
      )}
      <span className="grow" />
      {standing.iteration > 0 && <span className="num">{words.status.turn(standing.iteration)}</span>}
      {usage.input + usage.output > 0 && (
        <>
          <span className="sep" />
          <span className="num">
            {words.status.tokens(format.tokens(usage.input), format.tokens(usage.output))} ·{" "}
            {words.status.cached(cached)}
          </span>
        </>
      )}
      {spent !== undefined && (
        <>
          <span className="sep" />
          <span className="num">{spent}</span>
        </>
      )}
    </footer>
  );
}

/** What is drawn where no session is: the bar of the start on a phone. */
export function StartBar({ onSide }: { onSide: () => void }) {
  const words = useWords();
  const wire = useWire();
  useEffect(() => wire.rows.refresh(), [wire]);
  useTitle("", "rests");
  return (
    <header className="phone-bar">
      <button type="button" className="btn icon" aria-label={words.sessions} onClick={onSide}>
        <Icon name="list" />
      </button>
      <Link href="/" className="grow">
        <b>{words.app}</b>
      </Link>
    </header>
  );
}
