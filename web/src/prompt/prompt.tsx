//! What the model is told: every layer, tool and message with its tokens, its exact text, and what came since the last turn.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { cleanLine } from "../fold";
import { CopyButton, Icon } from "../parts";
import type { Layer, PromptReport, Role } from "../proto";
import { LineList } from "../text";
import { ask, useIsLive, useSession, useSlices } from "../wire";
import { useFormat, useWords, type Words } from "../words";
import { differenceOf, type Part, partsOf } from "./report";
import "../look/rooms.css";

/** The prompts of two turns that follow each other, as far as somebody looked. */
type Turns = { now: number; parts: readonly Part[]; before?: readonly Part[] };

const seen = new Map<string, Turns>();

/** Keeps what the prompt is in this turn, and gives what it was in the one before, if that was seen. */
function remembered(session: string, turn: number, parts: readonly Part[]): readonly Part[] | undefined {
  const known = seen.get(session);
  const before = known === undefined || known.now === turn ? known?.before : known.parts;
  seen.set(session, { now: turn, parts, ...(before && { before }) });
  return before;
}

export function Prompt() {
  const words = useWords();
  const session = useSession();
  const isLive = useIsLive();
  const view = useSlices("standing", "blocks", "said");
  const turn = view.turns;
  const { data, error } = useQuery({
    queryKey: ["prompt", session.id, turn, view.standing.mode, view.standing.generation, view.since_turn.size],
    queryFn: () => ask(session.id, { type: "prompt" }),
    enabled: isLive,
    placeholderData: (before) => before,
    retry: false,
  });
  const parts = useMemo(() => (data === undefined ? undefined : partsOf(data)), [data]);
  const before = useMemo(() => parts && remembered(session.id, turn, parts), [session.id, turn, parts]);

  const [place] = useLocation();
  const home = `/s/${session.id}/prompt`;
  const wanted = place.startsWith(`${home}/`) ? decodeURIComponent(place.slice(home.length + 1)) : undefined;
  if (parts === undefined || data === undefined) {
    if (error === null) return <div className="room" />;
    return (
      <div className="page" role="alert">
        <h1>{words.promptRoom.failed}</h1>
        <p className="mid">{error.message}</p>
      </div>
    );
  }
  const chosen = parts.find(({ key }) => key === wanted) ?? parts[0];
  const isNew = (part: Part) => part.group === "messages" && view.since_turn.has(part.key.slice("message ".length));
  return (
    <div className={wanted === undefined ? "room" : "room chosen"}>
      <nav className="picker" aria-label={words.promptRoom.layers}>
        <Sizes report={data} />
        {(["system", "tools", "messages"] as const).map((group) => {
          const some = parts.filter((part) => part.group === group);
          return (
            some.length > 0 && (
              <section key={group}>
                <h2>{headOf(group, some.length, words)}</h2>
                {some.map((part) => (
                  <PartRow
                    key={part.key}
                    part={part}
                    href={`${home}/${encodeURIComponent(part.key)}`}
                    isChosen={part === chosen}
                    isNew={isNew(part)}
                  />
                ))}
              </section>
            )
          );
        })}
      </nav>
      {chosen !== undefined && (
        <PartPane
          key={chosen.key}
          part={chosen}
          before={before?.find(({ key }) => key === chosen.key)}
          isNew={isNew(chosen)}
          home={home}
        />
      )}
    </div>
  );
}

function headOf(group: Part["group"], count: number, words: Words): string {
  switch (group) {
    case "system":
      return words.promptRoom.layers;
    case "tools":
      return words.promptRoom.toolCount(count);
    case "messages":
      return words.promptRoom.messageCount(count);
  }
}

function nameOf({ group, name }: Part, words: Words): string {
  switch (group) {
    case "system":
      return words.promptRoom.layer[name as Layer] ?? name;
    case "tools":
      return name;
    case "messages":
      return words.promptRoom.role[name as Role] ?? name;
  }
}

function Sizes({ report: { context } }: { report: PromptReport }) {
  const words = useWords();
  const format = useFormat();
  const { tokens, window, window_is_assumed, reserve, compact_at } = context;
  const full = window === undefined ? undefined : Math.min(100, (tokens * 100) / window);
  const facts = [
    window_is_assumed ? words.promptRoom.assumed : "",
    reserve > 0 ? words.promptRoom.free(format.tokens(reserve)) : "",
    compact_at === undefined ? "" : words.promptRoom.compacts(format.tokens(compact_at)),
    words.promptRoom.estimates,
  ];
  return (
    <div className="pad">
      <p className="num">
        {window === undefined
          ? words.promptRoom.tokens(format.tokens(tokens))
          : words.promptRoom.ofWindow(format.tokens(tokens), format.tokens(window))}
      </p>
      {full !== undefined && (
        <div className="meter" role="img" aria-label={words.inspect.full(Math.floor(full))}>
          <i className="m3" style={{ width: `${full}%` }} />
        </div>
      )}
      <p className="dim small">{facts.filter(Boolean).join(" · ")}</p>
    </div>
  );
}

type RowGiven = { part: Part; href: string; isChosen: boolean; isNew: boolean };

function PartRow({ part, href, isChosen, isNew }: RowGiven) {
  const words = useWords();
  const format = useFormat();
  return (
    <Link href={href} className="row" aria-current={isChosen ? "true" : undefined}>
      <span className={part.group === "tools" ? "mono cut" : "cut"}>
        {nameOf(part, words)} {part.begins !== "" && <span className="dim">{cleanLine(part.begins)}</span>}
      </span>
      {isNew && <span className="pulse" role="img" aria-label={words.promptRoom.isNew} />}
      <span className="when">{format.tokens(part.tokens)}</span>
      <span className="share" aria-hidden="true">
        <i style={{ width: `${Math.min(100, part.share)}%` }} />
      </span>
    </Link>
  );
}

type PaneGiven = { part: Part; before: Part | undefined; isNew: boolean; home: string };

function PartPane({ part, before, isNew, home }: PaneGiven) {
  const words = useWords();
  const format = useFormat();
  const name = nameOf(part, words);
  const difference = useMemo(
    () => (before === undefined ? undefined : differenceOf(before.text, part.text)),
    [before, part.text],
  );
  const isSame = difference !== undefined && difference.came.size === 0 && difference.went === 0;
  return (
    <section className="pane prompt">
      <header className="sub">
        <Link href={home} className="btn icon ghost narrow-back" aria-label={words.promptRoom.back}>
          <Icon name="left" />
        </Link>
        <h2 className="cut">{name}</h2>
        <span className="dim num small">{words.promptRoom.tokens(format.count(part.tokens))}</span>
        {isNew && <span className="chip live">{words.promptRoom.isNew}</span>}
        {!isNew && difference !== undefined && (
          <span className={isSame ? "dim small facts" : "chip live"}>
            {isSame ? words.promptRoom.same : words.promptRoom.changed(difference.came.size, difference.went)}
          </span>
        )}
        <span className="grow" />
        <CopyButton text={part.text} />
      </header>
      {part.notes.length > 0 && (
        <p className="dim pad small">
          {words.promptRoom.notes}: {part.notes.join(" · ")}
        </p>
      )}
      <LineList
        label={words.promptRoom.text(name)}
        text={part.text}
        wraps
        {...(part.group !== "messages" && { language: "markdown" })}
        {...(difference && { came: difference.came })}
      />
    </section>
  );
}
