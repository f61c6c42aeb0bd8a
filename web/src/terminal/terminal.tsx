//! The terminal of a session: the commands that its agents and the person ran and run, what each of them prints, and a
//! line for the next one.

import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { cleanLine } from "../fold";
import { Icon } from "../parts";
import { EndGlyph, endWords, ShellNotes } from "../shell";
import { LineList, sgr } from "../text";
import { useIsLive, useSession, useShell, useSlices } from "../wire";
import { useFormat, useWords } from "../words";
import { isRunning, type Listed, listed } from "./commands";
import { useBackground, useOutput } from "./output";
import { OwnLine } from "./own-line";
import "../look/rooms.css";

export function Terminal() {
  const session = useSession();
  const home = `/s/${session.id}/terminal`;
  return (
    <>
      <Commands home={home} />
      <OwnLine home={home} />
    </>
  );
}

function Commands({ home }: { home: string }) {
  const words = useWords();
  const { lines } = useShell();
  const view = useSlices("runs", "agents");
  const background = useBackground(view.runs.size + [...view.runs.values()].filter(({ end }) => end).length);
  const commands = listed(view.runs.values(), background, lines);
  const [place] = useLocation();
  const wanted = place.startsWith(`${home}/`) ? decodeURIComponent(place.slice(home.length + 1)) : undefined;
  const chosen = commands.find(({ key }) => key === wanted) ?? commands[0];
  if (chosen === undefined) {
    return (
      <div className="page">
        <h1>{words.terminal.none}</h1>
        <p className="mid">{words.terminal.whatItIs}</p>
      </div>
    );
  }
  const nameOf = (agent: string | undefined) =>
    agent === view.root ? undefined : view.agents.find(({ node }) => node.id === agent)?.node.name;
  return (
    <div className={wanted === undefined ? "room" : "room chosen"}>
      <nav className="picker" aria-label={words.terminal.list}>
        {commands.map((command) => (
          <Link
            key={command.key}
            href={`${home}/${encodeURIComponent(command.key)}`}
            className="row"
            aria-current={command.key === chosen.key ? "true" : undefined}
          >
            <EndGlyph ends={command.ends} />
            <span className="mono cut">{cleanLine(command.command)}</span>
            <span className="when">
              <End command={command} isShort />
            </span>
          </Link>
        ))}
      </nav>
      <Pane key={chosen.key} command={chosen} agent={nameOf(chosen.agent_id)} home={home} />
    </div>
  );
}

function Pane({ command, agent, home }: { command: Listed; agent: string | undefined; home: string }) {
  const words = useWords();
  const format = useFormat();
  const session = useSession();
  const isLive = useIsLive();
  const [trouble, setTrouble] = useState<string>();
  const output = useOutput(command);
  const { text, parts } = useMemo(() => sgr(output.text), [output.text]);
  const { background, run, own } = command;
  const runs = isRunning(command);
  const send = (given: Parameters<typeof session.send>[0]) => {
    setTrouble(undefined);
    session.send(given).catch((problem: unknown) => {
      setTrouble(problem instanceof Error ? problem.message : String(problem));
    });
  };
  const name = cleanLine(command.command);
  // What failed has said why.
  const isSilent = output.isComing || own?.end?.kind === "failed";
  const facts = [
    format.clock(command.began_ms),
    own !== undefined ? words.terminal.byYou : agent === undefined ? "" : words.terminal.by(agent),
    background === undefined ? "" : words.terminal.inBackground(background.name),
    output.isEnd && text !== "" ? words.terminal.onlyTheEnd : "",
  ].filter(Boolean);
  return (
    <section className="pane">
      <header className="sub">
        <Link href={home} className="btn icon ghost narrow-back" aria-label={words.terminal.back}>
          <Icon name="left" />
        </Link>
        <EndGlyph ends={command.ends} />
        <h2 className="mono cut" title={command.command}>
          {name}
        </h2>
        <span className="dim small facts">{facts.join(" · ")}</span>
        <span className="grow" />
        <span className="dim num small">
          <End command={command} />
        </span>
        {runs && background !== undefined && (
          <button
            type="button"
            className="btn small"
            disabled={!isLive}
            onClick={() => send({ type: "stop_background", agent_id: background.agent_id, name: background.name })}
          >
            <Icon name="stop" small />
            {words.terminal.stop}
          </button>
        )}
        {runs && background === undefined && run !== undefined && (
          <button
            type="button"
            className="btn small"
            disabled={!isLive}
            onClick={() => send({ type: "background", call_id: run.call_id })}
          >
            {words.terminal.goOn}
          </button>
        )}
      </header>
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {words.terminal.trouble(trouble)}
        </p>
      )}
      {own !== undefined && <ShellNotes line={own} />}
      {command.command.includes("\n") && <pre className="out whole">{command.command}</pre>}
      {text === "" ? (
        <p className="dim pad">{isSilent ? "" : runs ? words.terminal.nothingYet : words.terminal.nothingPrinted}</p>
      ) : (
        <LineList label={words.terminal.output(name)} text={text} parts={parts} follows={runs}>
          {output.pieces !== undefined && (
            <p className="more">
              <span className="dim num">
                {words.terminal.more(format.bytes(output.pieces.read), format.bytes(output.pieces.total))}
              </span>
              <button
                type="button"
                className="btn small"
                disabled={output.pieces.reads || !isLive}
                onClick={output.pieces.readOn}
              >
                {words.terminal.readOn}
              </button>
            </p>
          )}
        </LineList>
      )}
    </section>
  );
}

function End({ command: { ends, took_ms }, isShort }: { command: Listed; isShort?: boolean }) {
  const words = useWords();
  const format = useFormat();
  const isPlain = ends.kind === "exit" && ends.code === 0;
  const facts = [isPlain ? "" : endWords(ends, words), took_ms === undefined ? "" : format.duration(took_ms)];
  const said = facts.filter(Boolean);
  return isShort ? said[0] : said.join(" · ");
}
