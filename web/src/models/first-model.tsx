//! A first model: what answers on this machine, a provider and its key, or a server of one's own. It is asked a tiny
//! question before it is kept.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Glyph, Icon } from "../parts";
import type { ModelOffers } from "../proto";
import { models, settings } from "../wire";
import { useWords } from "../words";
import { KeyForm } from "./key-form";
import { ModelChoice } from "./model-choice";
import { OwnServer } from "./own-server";
import { saysNext, wordsOf } from "./words-of";

/** Providers that are shown before somebody wants more. */
const SHOWN = 6;

/** Models of one server that are. */
const OF_ONE = 6;

/** What is being set up: a provider that has its key, or needs one; a server at an address. */
type Doing = { provider: string; base?: string; step: "key" | "model" };

type Given = {
  folder: string;
  onDone: (model: string) => void;
  /** Whether somebody is about to choose: a key that was just kept may be enough for a model, and they are not through. */
  onBusy: (isBusy: boolean) => void;
};

export function FirstModel({ folder, onDone, onBusy }: Given) {
  const all = useWords();
  const words = all.first;
  const queries = useQueryClient();
  const [doing, setDoing] = useState<Doing | "server">();
  const [note, setNote] = useState<string>();
  const isBusy = doing !== undefined;
  useEffect(() => onBusy(isBusy), [onBusy, isBusy]);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["offers", folder],
    queryFn: () => models.offers(folder),
    retry: false,
  });

  const keep = async (model: string, base?: string) => {
    const provider = model.split("/", 1)[0] ?? "";
    await settings.set(folder, [
      { key: "model", value: model },
      ...(base === undefined ? [] : ownServer(provider, base)),
    ]);
    await queries.invalidateQueries();
    setDoing(undefined);
    onDone(model);
  };

  const back = () => {
    setDoing(undefined);
    setNote(undefined);
  };

  return (
    <section className="first-run card" aria-label={words.title}>
      <header>
        <h2>{words.title}</h2>
        <p className="mid">{words.what}</p>
      </header>
      {note !== undefined && (
        <p className="good-note" role="status">
          <Icon name="check" small /> {note}
        </p>
      )}
      {doing === "server" ? (
        <OwnServer
          folder={folder}
          onBack={back}
          onFound={({ provider, base, needsKey }) => {
            if (!needsKey) return setDoing({ provider, base, step: "model" });
            // A key is kept for a provider that the settings know.
            return settings.set(folder, ownServer(provider, base)).then(() => setDoing({ provider, step: "key" }));
          }}
        />
      ) : doing?.step === "key" ? (
        <KeyForm
          key={doing.provider}
          provider={doing.provider}
          folder={folder}
          onBack={back}
          onKept={({ test }) => {
            setNote(test === "works" ? words.keyWorks(doing.provider) : words.keyKept(doing.provider));
            setDoing({ provider: doing.provider, step: "model" });
          }}
        />
      ) : doing?.step === "model" ? (
        <ModelChoice
          key={doing.provider}
          folder={folder}
          provider={doing.provider}
          base={doing.base}
          onBack={back}
          onKey={() => setDoing({ provider: doing.provider, step: "key" })}
          onModel={(model) => keep(model, doing.base)}
        />
      ) : error !== null ? (
        <div role="alert">
          <p className="del">{wordsOf(error)}</p>
          {saysNext(error) !== undefined && <p className="mid">{saysNext(error)}</p>}
          <button type="button" className="btn" onClick={() => void refetch()}>
            {all.retry}
          </button>
        </div>
      ) : data === undefined ? (
        <p className="dim" role="status">
          {words.looking}
        </p>
      ) : (
        <>
          <Offers offers={data} onProvider={setDoing} onServer={() => setDoing("server")} />
          <p className="acts">
            <button type="button" className="btn small ghost" disabled={isFetching} onClick={() => void refetch()}>
              <Icon name="retry" small />
              {words.lookAgain}
            </button>
          </p>
        </>
      )}
    </section>
  );
}

/** What makes a server known that the settings do not have yet. */
const ownServer = (provider: string, base: string) => [
  { key: `model_providers.${provider}.type`, value: "openai" },
  { key: `model_providers.${provider}.base`, value: base },
];

type OffersGiven = { offers: ModelOffers; onProvider: (doing: Doing) => void; onServer: () => void };

function Offers({ offers: { servers, providers }, onProvider, onServer }: OffersGiven) {
  const words = useWords().first;
  const [isAll, setAll] = useState(false);
  const shown = isAll ? providers : providers.slice(0, SHOWN);
  return (
    <>
      {servers.length > 0 && <h3>{words.here}</h3>}
      {servers.map(({ provider, base, models }) => (
        <button
          key={provider}
          type="button"
          className="row offer"
          onClick={() => onProvider({ provider, step: "model" })}
        >
          <Glyph shape="done" tone="good" />
          <b>{provider}</b>
          <span className="cut dim">{models.slice(0, OF_ONE).join(", ")}</span>
          <span className="when mono">{hostOf(base)}</span>
        </button>
      ))}
      <h3>{words.withKey}</h3>
      <div className="offers">
        {shown.map(({ name, sources }) => (
          <button
            key={name}
            type="button"
            className="row offer"
            onClick={() => onProvider({ provider: name, step: sources.length > 0 ? "model" : "key" })}
          >
            {sources.length > 0 ? <Glyph shape="done" tone="good" /> : <Glyph shape="wait" tone="wait" />}
            <b>{name}</b>
            <span className="when">{sources.length > 0 ? words.hasKey(sources.join(", ")) : words.addKey}</span>
          </button>
        ))}
      </div>
      {!isAll && providers.length > SHOWN && (
        <button type="button" className="row dim" onClick={() => setAll(true)}>
          <Icon name="down" small />
          {words.moreProviders(providers.length - SHOWN)}
        </button>
      )}
      <h3>{words.elsewhere}</h3>
      <button type="button" className="row offer" onClick={onServer}>
        <Icon name="plug" small />
        <b>{words.ownServer}</b>
        <span className="when">{words.ownServerIs}</span>
      </button>
    </>
  );
}

function hostOf(base: string): string {
  try {
    return new URL(base).host;
  } catch {
    return base;
  }
}
