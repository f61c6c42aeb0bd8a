//! The sessions in the side bar.

import { useState } from "react";
import { Link, useLocation } from "wouter";
import { draftOf, Glyph, Icon, Key, remarksOf, stored, useKeys } from "../parts";
import type { SessionRow } from "../proto";
import { useRows } from "../wire";
import { useFormat, useWords } from "../words";
import { dayOf, type Group, grouped, isYesterday, nameOf } from "./rows";

type Given = { current: string | undefined; filter: string; onSeek: (words: string) => void };

export function SessionList({ current, filter, onSeek }: Given) {
  const words = useWords();
  const [, go] = useLocation();
  const sessions = useRows();
  const wanted = filter.trim().toLowerCase();
  const fits = ({ title, cwd }: SessionRow) => `${title}\n${cwd}`.toLowerCase().includes(wanted);
  const groups = grouped((sessions ?? []).filter(fits));
  const inOrder = groups.flatMap((group) => group.sessions);

  const step = (by: number) => {
    const at = inOrder.findIndex(({ id }) => id === current);
    const next = inOrder[at + by];
    if (next !== undefined) go(`/s/${next.id}`);
  };
  useKeys({ above: () => step(-1), below: () => step(1) });

  if (sessions === undefined) return <nav className="list" aria-label={words.sessions} aria-busy="true" />;
  return (
    <nav className="list" aria-label={words.sessions}>
      {groups.length === 0 && (
        <p className="dim pad">{wanted === "" ? words.noSessions : words.nothingFound(filter)}</p>
      )}
      {groups.map((group) => (
        <SessionGroup key={group.kind + group.day} group={group} current={current} />
      ))}
      {wanted !== "" && (
        <button type="button" className="row seek" onClick={() => onSeek(filter.trim())}>
          <Icon name="find" small />
          <span className="grow">{words.seekSaid(filter.trim())}</span>
          <Key of="palette" />
        </button>
      )}
    </nav>
  );
}

/** Sessions of a day that are shown before somebody wants more. */
const SHOWN = 12;

function SessionGroup({ group, current }: { group: Group; current: string | undefined }) {
  const words = useWords();
  const format = useFormat();
  const [all, setAll] = useState(false);
  const { kind, day, sessions } = group;
  const now = Date.now();
  const name =
    kind === "wants"
      ? words.wantsYou
      : kind === "works"
        ? words.atWork
        : day === dayOf(now)
          ? words.today
          : isYesterday(day, now)
            ? words.yesterday
            : format.day(day);
  const shown = all || kind !== "day" ? sessions : sessions.slice(0, SHOWN);
  return (
    <>
      <h2>
        {name}
        {kind !== "day" && <span className="num">{sessions.length}</span>}
      </h2>
      {shown.map((session) => (
        <Line key={session.id} session={session} isCurrent={session.id === current} kind={kind} />
      ))}
      {shown.length < sessions.length && (
        <button type="button" className="row dim" onClick={() => setAll(true)}>
          <Icon name="down" small />
          {words.call.moreLines(sessions.length - shown.length)}
        </button>
      )}
    </>
  );
}

function Line({ session, isCurrent, kind }: { session: SessionRow; isCurrent: boolean; kind: Group["kind"] }) {
  const words = useWords();
  const format = useFormat();
  const { id, title, cwd, updated, forked_from } = session;
  const name = title === "" ? words.untitled : title;
  const hasDraft = stored(draftOf(id)) !== null || stored(remarksOf(id)) !== null;
  const wants = kind === "wants";
  return (
    <Link
      href={`/s/${id}`}
      className={wants ? "row two wants" : "row"}
      aria-current={isCurrent ? "page" : undefined}
      title={cwd}
    >
      <State session={session} />
      <span className="grow">
        <span className="cut one">
          {forked_from !== null && <Icon name="fork" small />}
          {name}
        </span>
        {wants && (
          <small className="cut">
            {words.asksYou} · {nameOf(cwd)}
          </small>
        )}
      </span>
      {hasDraft && <span className="chip flat">{words.draft}</span>}
      {kind === "day" && <span className="when">{format.clock(Date.parse(updated))}</span>}
      {kind === "works" && <span className="when">{nameOf(cwd)}</span>}
    </Link>
  );
}

function State({ session: { asks, state, work } }: { session: SessionRow }) {
  const words = useWords();
  const states = words.block.agentState;
  if (asks === true) return <Glyph shape="ask" tone="ask" label={words.asked.waitsForYou} />;
  if (state === "stopped") return <Glyph shape="off" tone="off" label={words.stopped} />;
  if (state === "open" && work === "running") return <Glyph shape="run" tone="run" label={states.running} />;
  if (work === "paused") return <Glyph shape="pause" tone="off" label={states.paused} />;
  if (work === "failed") return <Glyph shape="fail" tone="fail" label={states.failed} />;
  if (work === "cancelled") return <Glyph shape="off" tone="off" label={states.cancelled} />;
  if (work === "completed") return <Glyph shape="done" tone="done" label={states.completed} />;
  return <Glyph shape="dot" tone="done" />;
}
