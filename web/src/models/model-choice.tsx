//! Which model of a provider: those that it serves, or one by its name. The one that is chosen is asked a tiny question.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph, Icon } from "../parts";
import { models } from "../wire";
import { useWords } from "../words";
import { saysNext, wordsOf } from "./words-of";

type Given = {
  folder: string;
  provider: string;
  /** Where it is, when the settings do not have it yet. */
  base: string | undefined;
  onModel: (model: string) => Promise<void>;
  onKey: () => void;
  onBack: () => void;
};

/** The error code of a key that is not taken. */
const NOT_AUTHORISED = 4003;

/** Names that are shown before letters narrow them down. */
const SHOWN = 12;

type Tried = { model: string; problem?: unknown; isTool?: boolean };

export function ModelChoice({ folder, provider, base, onModel, onKey, onBack }: Given) {
  const all = useWords();
  const words = all.first;
  const [letters, setLetters] = useState("");
  const [trying, setTrying] = useState<string>();
  const [tried, setTried] = useState<Tried>();
  const [wantsKey, setWantsKey] = useState(false);
  const { data, error, isPending } = useQuery({
    queryKey: ["served", folder, provider, base],
    queryFn: () => models.served(folder, provider, base),
    retry: false,
  });
  const sought = letters.trim();
  const names = data?.models ?? [];
  const fitting = names.filter((name) => name.toLowerCase().includes(sought.toLowerCase()));

  const attempt = async (name: string) => {
    const model = `${provider}/${name}`;
    setTrying(model);
    setTried(undefined);
    setWantsKey(false);
    try {
      const { code, problem, duration_ms } = await models.test(folder, model, base);
      setWantsKey(code === NOT_AUTHORISED);
      // One that answers without calling a tool can be worked with, if badly.
      if (code !== undefined || duration_ms === undefined) setTried({ model, problem: new Error(problem ?? "") });
      else await onModel(model);
    } catch (problem) {
      setTried({ model, problem });
    } finally {
      setTrying(undefined);
    }
  };

  return (
    <form
      className="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = fitting;
        const name = names.includes(sought) || first === undefined ? sought : first;
        if (name !== "" && trying === undefined) void attempt(name);
      }}
    >
      <label htmlFor="which-model">{words.which(provider)}</label>
      <div className="acts">
        <span className="field grow">
          <Icon name="find" small />
          <input
            id="which-model"
            type="text"
            // biome-ignore lint/a11y/noAutofocus: it was asked for
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder={words.modelName}
            value={letters}
            onChange={({ target }) => setLetters(target.value)}
          />
        </span>
        <button type="button" className="btn" onClick={onBack}>
          {all.back}
        </button>
      </div>
      <div className="small" aria-live="polite">
        {trying !== undefined && <p className="dim">{words.trying(trying)}</p>}
        {tried?.problem !== undefined && (
          <>
            <p className="del">{words.cantUse(tried.model, wordsOf(tried.problem))}</p>
            <p className="mid">{saysNext(tried.problem) ?? words.another}</p>
          </>
        )}
        {(wantsKey || data?.needs_key === true) && (
          <p>
            {words.wantsKey(provider)}{" "}
            <button type="button" className="btn small" onClick={onKey}>
              {words.addKey}
            </button>
          </p>
        )}
        {error !== null && <p className="del">{wordsOf(error)}</p>}
        {isPending && <p className="dim">{words.asking}</p>}
        {data !== undefined && names.length === 0 && <p className="dim">{words.namesNone}</p>}
      </div>
      <div className="offers">
        {fitting.slice(0, SHOWN).map((name) => (
          <button
            key={name}
            type="button"
            className="row offer"
            disabled={trying !== undefined}
            onClick={() => void attempt(name)}
          >
            {trying === `${provider}/${name}` ? (
              <Glyph shape="run" tone="run" label={words.asking} />
            ) : (
              <Glyph shape="wait" tone="wait" />
            )}
            <span className="mono cut">{name}</span>
          </button>
        ))}
      </div>
      {fitting.length > SHOWN && <p className="dim small">{words.moreModels(fitting.length - SHOWN)}</p>}
      {fitting.length === 0 && sought !== "" && (
        <button type="submit" className="btn" disabled={trying !== undefined}>
          {words.tryIt(sought)}
        </button>
      )}
    </form>
  );
}
