//! MCP servers: how each stands, and what can be done with it.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Glyph, Icon, type Shape, type Tone } from "../parts";
import type { Json, ServerRow, TestedServer } from "../proto";
import { servers, useIsLive } from "../wire";
import { useFormat, useWords } from "../words";
import { type Acts, Asked, Switch, Trouble, useActs, Warnings } from "./acts";
import { serverIn } from "./server-line";
import { Sure } from "./sure";
import { useUnsaved } from "./unsaved";

export function Servers() {
  const words = useWords().settings.servers;
  const { folder } = useUnsaved();
  const acts = useActs();
  const query = useQuery({
    queryKey: ["servers", folder],
    queryFn: () => servers.list(folder),
    refetchInterval: 5_000,
  });
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <Trouble problem={acts.problem} />
      <Asked query={query}>
        {({ servers: all, warnings }) => (
          <>
            <ul className="set-lines">
              {all.map((server) => (
                <Server key={server.name} server={server} acts={acts} />
              ))}
            </ul>
            {all.length === 0 && <p className="dim">{words.none}</p>}
            <Warnings of={warnings} />
          </>
        )}
      </Asked>
      <Add acts={acts} />
    </section>
  );
}

const STATES: Record<ServerRow["state"], [Shape, Tone]> = {
  configured: ["wait", "wait"],
  known: ["done", "done"],
  starting: ["run", "run"],
  running: ["done", "good"],
  disabled: ["off", "off"],
  untrusted: ["no", "off"],
  needs_login: ["pause", "off"],
  failed: ["fail", "fail"],
  other: ["dot", "off"],
};

function Server({ server, acts }: { server: ServerRow; acts: Acts }) {
  const all = useWords();
  const words = all.settings.servers;
  const { folder } = useUnsaved();
  const isLive = useIsLive();
  const [shows, setShows] = useState<"log" | "offers">();
  const [tested, setTested] = useState<TestedServer>();
  const { name, state, error, in_short, file, offers, left_out } = server;
  const [shape, tone] = STATES[state] ?? STATES.other;
  const isOff = acts.busy !== undefined || !isLive;
  const does = (what: string, label: string, work: () => Promise<unknown>) => (
    <button
      type="button"
      className="btn small"
      disabled={isOff}
      aria-label={`${label}: ${name}`}
      onClick={() => void acts.run(`${what} ${name}`, work)}
    >
      {acts.busy === `${what} ${name}` ? words.busy : label}
    </button>
  );
  const toggle = (what: "log" | "offers") => setShows(shows === what ? undefined : what);
  return (
    <li className="line-of">
      <Glyph shape={shape} tone={tone} label={words.states[state]} />
      <button type="button" className="who opens" aria-expanded={shows === "offers"} onClick={() => toggle("offers")}>
        <b className="mono">{name}</b>
        <small className="cut">
          <code>{in_short}</code>
        </small>
      </button>
      <span className="dim small">
        {words.states[state]}
        {offers !== undefined && ` · ${words.offers(offers.tools)}`}
      </span>
      <Switch
        label={words.enabled(name)}
        isOn={state !== "disabled"}
        disabled={isOff}
        onSwitch={(isOn) => void acts.run(`enable ${name}`, () => servers.enable(folder, name, isOn))}
      />
      <span className="does whole">
        {does("test", words.test, async () => setTested(await servers.test(folder, name)))}
        {does("restart", words.restart, () => servers.restart(folder, name))}
        <button type="button" className="btn small" aria-expanded={shows === "log"} onClick={() => toggle("log")}>
          {words.log}
        </button>
        <Sure
          label={words.remove}
          name={name}
          isOff={isOff}
          onSure={() => acts.run(`remove ${name}`, () => servers.remove(folder, name))}
        />
        <span className="grow" />
        <span className="dim small cut" title={file}>
          {file}
        </span>
      </span>
      {error !== undefined && <p className="whole small del">{error}</p>}
      {tested !== undefined && <TestedLine tested={tested} />}
      <Warnings of={left_out} />
      {shows === "log" && <Log name={name} />}
      {shows === "offers" && <Offers name={name} />}
    </li>
  );
}

function TestedLine({ tested: { ok, problem, duration_ms, tools } }: { tested: TestedServer }) {
  const words = useWords().settings.servers;
  const format = useFormat();
  return (
    <p className={ok ? "whole small mid" : "whole small del"} role="status">
      {ok ? words.answered(format.duration(duration_ms), tools.length) : problem}
    </p>
  );
}

function Log({ name }: { name: string }) {
  const words = useWords().settings.servers;
  const { folder } = useUnsaved();
  const query = useQuery({
    queryKey: ["server.log", folder, name],
    queryFn: () => servers.log(folder, name),
    refetchInterval: 3_000,
  });
  return (
    <div className="whole">
      <Asked query={query}>
        {({ text, file }) => (
          <>
            <p className="mono dim">{file}</p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is long is scrolled by keyboard, too */}
            <pre className="out well" tabIndex={0}>
              {text === "" ? words.noLog : text}
            </pre>
          </>
        )}
      </Asked>
    </div>
  );
}

function Offers({ name }: { name: string }) {
  const words = useWords().settings.servers;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["server", folder, name], queryFn: () => servers.get(folder, name) });
  return (
    <div className="whole">
      <Asked query={query}>
        {({ tools, prompts, resources, given, instructions }) => (
          <>
            {instructions !== undefined && <p className="mid wraps">{instructions}</p>}
            {given.length > 0 && <p className="dim small">{words.given(given.join(", "))}</p>}
            {tools.length + prompts.length + resources.length === 0 && <p className="dim">{words.unknown}</p>}
            <dl className="terms">
              {tools.map(({ name, description }) => (
                <div key={name}>
                  <dt className="mono">{name}</dt>
                  <dd className="mid">{description}</dd>
                </div>
              ))}
              {prompts.map(({ name, description }) => (
                <div key={name}>
                  <dt className="mono">/{name}</dt>
                  <dd className="mid">{description}</dd>
                </div>
              ))}
              {resources.map(({ uri, name, description }) => (
                <div key={uri}>
                  <dt className="mono">{name || uri}</dt>
                  <dd className="mid">{description}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </Asked>
    </div>
  );
}

/** A new server: a command line, an address, or what another program's settings have. */
function Add({ acts }: { acts: Acts }) {
  const words = useWords().settings.servers;
  const { folder } = useUnsaved();
  const [name, setName] = useState("");
  const [line, setLine] = useState("");
  const [isProject, setProject] = useState(false);
  const server: Json | undefined = serverIn(line);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (server === undefined || name === "") return;
    const added = await acts.run("add", () => servers.add(folder, name, isProject ? "project" : "user", server));
    if (added === undefined) return;
    setName("");
    setLine("");
  };
  return (
    <form className="add-server" onSubmit={(event) => void add(event)}>
      <h3>{words.add}</h3>
      <div className="acts">
        <input
          className="field mono tool"
          type="text"
          aria-label={words.name}
          placeholder={words.name}
          spellCheck={false}
          value={name}
          onChange={({ target }) => setName(target.value.trim())}
        />
        <input
          className="field mono grow"
          type="text"
          aria-label={words.line}
          placeholder={words.linePlaceholder}
          spellCheck={false}
          value={line}
          onChange={({ target }) => setLine(target.value)}
        />
        <button type="submit" className="btn" disabled={server === undefined || name === "" || acts.busy !== undefined}>
          <Icon name="plus" small />
          {words.addIt}
        </button>
      </div>
      <label className="check small">
        <input type="checkbox" checked={isProject} onChange={({ target }) => setProject(target.checked)} />
        {words.forProject}
      </label>
    </form>
  );
}
