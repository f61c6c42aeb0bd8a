//! Providers and their keys: which there are, a test of each, and keys that go in and never come back.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { KeyForm, OwnServer } from "../models";
import { Glyph, Icon } from "../parts";
import type { KeyRow, ModelList, ProviderRow, TestedModel } from "../proto";
import { keys, models, useIsLive } from "../wire";
import { useFormat, useWords } from "../words";
import { type Acts, Trouble, useActs, Warnings } from "./acts";
import { useUnsaved } from "./unsaved";

export function Providers({ list }: { list: ModelList }) {
  const words = useWords().settings.providers;
  const { folder, set } = useUnsaved();
  const acts = useActs();
  const [isAll, setAll] = useState(false);
  const [adds, setAdds] = useState(false);
  const { data } = useQuery({ queryKey: ["keys", folder], queryFn: () => keys.list(folder) });
  const known = list.providers.filter(({ standing }) => standing.kind !== "script");
  const shown = isAll
    ? known
    : known.filter(({ usable, name }) => usable || data?.keys.some((row) => row.provider === name));
  return (
    <section className="block-of">
      <div className="title-line">
        <h2>{words.title}</h2>
        <span className="grow" />
        <button type="button" className="btn" aria-expanded={adds} onClick={() => setAdds(!adds)}>
          <Icon name="plus" small />
          {words.addServer}
        </button>
      </div>
      <p className="lead">{words.lead}</p>
      {adds && (
        <OwnServer
          folder={folder}
          onBack={() => setAdds(false)}
          onFound={({ provider, base, models }) => {
            set(`model_providers.${provider}.type`, "openai");
            set(`model_providers.${provider}.base`, base);
            const [first] = models;
            if (first !== undefined && list.models.length === 0) set("model", `${provider}/${first}`);
            setAdds(false);
          }}
        />
      )}
      <Trouble problem={acts.problem} />
      {data?.problem !== undefined && <p className="del small">{data.problem}</p>}
      <ul className="set-lines">
        {shown.map((provider) => (
          <Provider
            key={provider.name}
            provider={provider}
            rows={(data?.keys ?? []).filter((row) => row.provider === provider.name)}
            list={list}
            acts={acts}
          />
        ))}
      </ul>
      {shown.length < known.length && (
        <button type="button" className="row dim" onClick={() => setAll(true)}>
          <Icon name="down" small />
          {words.more(known.length - shown.length)}
        </button>
      )}
      <Warnings of={data?.warnings} />
    </section>
  );
}

type Given = { provider: ProviderRow; rows: readonly KeyRow[]; list: ModelList; acts: Acts };

function Provider({ provider: { name, title, usable, standing }, rows, list, acts }: Given) {
  const words = useWords().settings.providers;
  const { folder } = useUnsaved();
  const isLive = useIsLive();
  const [writes, setWrites] = useState(false);
  const [tested, setTested] = useState<TestedModel>();
  const base = "base" in standing ? standing.base : undefined;
  const model = modelOf(name, list);
  const hasKeys = rows.some(({ keys }) => keys > 0);
  const test = async () => {
    if (model === undefined) return;
    setTested(await acts.run(`test ${name}`, () => models.test(folder, model)));
  };
  return (
    <li className="line-of">
      {tested !== undefined ? (
        tested.ok ? (
          <Glyph shape="done" tone="good" label={words.passed} />
        ) : (
          <Glyph shape="fail" tone="fail" label={words.failed} />
        )
      ) : usable ? (
        <Glyph shape="done" tone="good" label={words.usable} />
      ) : (
        <Glyph shape="wait" tone="wait" label={words.notUsable} />
      )}
      <span className="who">
        <b>{title ?? name}</b>
        <small className="cut">
          {title !== undefined && <code>{name}</code>} {base !== undefined && <code>{base}</code>}
        </small>
      </span>
      <span className="chips">
        <Keys rows={rows} standing={standing} provider={name} acts={acts} />
      </span>
      <span className="does">
        {usable && model !== undefined && (
          <button
            type="button"
            className="btn small"
            aria-label={words.testOf(name)}
            title={model}
            disabled={acts.busy !== undefined || !isLive}
            onClick={() => void test()}
          >
            {acts.busy === `test ${name}` ? words.testing : words.test}
          </button>
        )}
        <button
          type="button"
          className="btn small"
          aria-label={`${hasKeys ? words.replaceKey : words.addKey}: ${name}`}
          aria-expanded={writes}
          onClick={() => setWrites(!writes)}
        >
          {hasKeys ? words.replaceKey : words.addKey}
        </button>
      </span>
      {tested !== undefined && <Tested tested={tested} />}
      {writes && (
        <div className="whole">
          <KeyForm
            provider={name}
            folder={folder}
            replaces={hasKeys}
            onBack={() => setWrites(false)}
            onKept={() => setWrites(false)}
          />
        </div>
      )}
    </li>
  );
}

/** What a test of a provider asks: what a group names of it, else what is asked first, else its first. */
function modelOf(provider: string, { groups, models }: ModelList): string | undefined {
  const isOfIt = (name: string) => name.startsWith(`${provider}/`);
  const named = Object.values(groups).flatMap((group) => group.models);
  const usual = models.find((model) => model.default && isOfIt(model.name))?.name;
  return usual ?? named.find(isOfIt) ?? models.find(({ name }) => isOfIt(name))?.name;
}

function Tested({ tested: { ok, problem, name, first_byte_ms, called_tool } }: { tested: TestedModel }) {
  const words = useWords().settings.providers;
  const format = useFormat();
  return (
    <p className={ok ? "whole small mid" : "whole small del"} role="status">
      <code>{name}</code>{" "}
      {ok
        ? [
            first_byte_ms === undefined ? "" : words.firstWord(format.duration(first_byte_ms)),
            called_tool === true ? words.callsTools : "",
          ]
            .filter(Boolean)
            .join(" · ")
        : problem}
    </p>
  );
}

type KeysGiven = { rows: readonly KeyRow[]; standing: ProviderRow["standing"]; provider: string; acts: Acts };

function Keys({ rows, standing, provider, acts }: KeysGiven) {
  const words = useWords().settings.providers;
  const { folder } = useUnsaved();
  if (rows.length === 0) {
    const isOpen = standing.kind === "no_key_needed" || standing.kind === "answers" || standing.kind === "silent";
    return (
      <>
        <span className="keychip none">
          {standing.kind === "silent" ? words.silent : isOpen ? words.needsNone : words.noKey}
        </span>
        {standing.kind === "key_missing" && <small className="dim mono cut">{standing.variables.join(", ")}</small>}
      </>
    );
  }
  return rows.map(({ source, names, endings, keys: count, problem, login, used }) => (
    <span key={source} className="chips">
      {problem !== undefined && problem !== null && <span className="del small">{problem}</span>}
      {endings.slice(0, count).map((ending, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: keys have no names, only places
        <span key={at} className={used ? "keychip" : "keychip none"}>
          {login && ending === null ? words.login : `…${ending ?? ""}`}
          {source === "keys file" && (
            <button
              type="button"
              aria-label={words.forget(provider, at + 1)}
              title={words.forget(provider, at + 1)}
              disabled={acts.busy !== undefined}
              onClick={() => void acts.run("forget", () => keys.remove(folder, provider, login ? undefined : at + 1))}
            >
              <Icon name="cross" small />
            </button>
          )}
        </span>
      ))}
      <small className="dim cut">{source === "environment" ? names.join(", ") : words.places(source)}</small>
    </span>
  ));
}
