//! Devices: the tokens by which others come in, and what was done.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { CopyButton, Icon } from "../parts";
import type { Scope, TokenRow } from "../proto";
import { tokens } from "../wire";
import { useWords } from "../words";
import { type Acts, Asked, Trouble, useActs } from "./acts";
import { Audit } from "./audit";
import { Sure } from "./sure";

const SCOPES: readonly Scope[] = ["read", "work", "manage"];

export function Devices() {
  const words = useWords().settings.devices;
  const acts = useActs();
  const query = useQuery({ queryKey: ["tokens"], queryFn: tokens.list });
  return (
    <>
      <section className="block-of">
        <h2>{words.title}</h2>
        <p className="lead">{words.lead}</p>
        <Asked query={query}>
          {({ tokens: all }) => (
            <>
              <ul className="set-lines">
                {all.map((token) => (
                  <Token key={token.name} token={token} acts={acts} />
                ))}
              </ul>
              {all.length === 0 && <p className="dim">{words.none}</p>}
              <NewToken names={all.map(({ name }) => name)} acts={acts} />
            </>
          )}
        </Asked>
        <Trouble problem={acts.problem} />
      </section>
      <Audit />
    </>
  );
}

function Token({ token: { name, scope }, acts }: { token: TokenRow; acts: Acts }) {
  const words = useWords().settings.devices;
  const scopes: Record<string, string> = words.scopes;
  return (
    <li className="line-of">
      <Icon name="laptop" small />
      <b className="who">{name}</b>
      <span className="dim small">{scopes[scope] ?? scope}</span>
      <Sure
        label={words.remove}
        name={name}
        isOff={acts.busy !== undefined}
        onSure={() => acts.run(`remove ${name}`, () => tokens.remove(name))}
      />
    </li>
  );
}

function NewToken({ names, acts }: { names: readonly string[]; acts: Acts }) {
  const words = useWords().settings.devices;
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("read");
  const [made, setMade] = useState<{ name: string; token: string }>();
  const means = useId();
  const called = name.trim();
  const replaces = names.includes(called);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (called === "") return;
    setMade(undefined);
    const added = await acts.run("add", () => tokens.add(called, scope));
    if (added === undefined) return;
    setMade({ name: called, token: added.token });
    setName("");
  };
  return (
    <>
      <h3>{words.newToken}</h3>
      <form className="acts add" onSubmit={(event) => void add(event)}>
        <input
          className="field grow"
          type="text"
          aria-label={words.name}
          placeholder={words.namePlaceholder}
          autoComplete="off"
          spellCheck={false}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <span className="choose">
          <select
            className="field"
            aria-label={words.may}
            aria-describedby={means}
            value={scope}
            onChange={({ target }) => setScope(target.value as Scope)}
          >
            {SCOPES.map((each) => (
              <option key={each} value={each}>
                {words.scopes[each]}
              </option>
            ))}
          </select>
          <Icon name="down" small />
        </span>
        <button type="submit" className="btn" disabled={called === "" || acts.busy !== undefined}>
          {replaces ? words.replace : words.add}
        </button>
      </form>
      <p id={means} className="dim small">
        {words.means[scope]}
      </p>
      {replaces && (
        <p className="del small" role="status">
          {words.replaces(called)}
        </p>
      )}
      {made !== undefined && <Made {...made} onClose={() => setMade(undefined)} />}
    </>
  );
}

/** The token itself, this once. */
function Made({ name, token, onClose }: { name: string; token: string; onClose: () => void }) {
  const words = useWords().settings.devices;
  return (
    <div className="told" role="status">
      <p>{words.made(name)}</p>
      <p className="made-token">
        <code className="mono">{token}</code>
        <CopyButton text={token} />
      </p>
      <button type="button" className="btn small" onClick={onClose}>
        {words.taken}
      </button>
    </div>
  );
}
