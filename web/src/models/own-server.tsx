//! A server of the person's own: its address, and whether something answers there that speaks as OpenAI's does.

import { type FormEvent, useState } from "react";
import { Icon } from "../parts";
import { models } from "../wire";
import { useWords } from "../words";
import { withScheme } from "./with-scheme";
import { saysNext, wordsOf } from "./words-of";

export type FoundServer = { provider: string; base: string; needsKey: boolean; models: readonly string[] };

type Given = { folder: string; onFound: (server: FoundServer) => unknown; onBack: () => void };

export function OwnServer({ folder, onFound, onBack }: Given) {
  const all = useWords();
  const words = all.first;
  const [address, setAddress] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const ask = async (event: FormEvent) => {
    event.preventDefault();
    const base = withScheme(address);
    setAsking(true);
    setProblem(undefined);
    try {
      const served = await models.served(folder, "", base);
      if (served.silent) setProblem(new Error(words.silent(base)));
      else await onFound({ provider: served.provider, base, needsKey: served.needs_key, models: served.models });
    } catch (problem) {
      setProblem(problem);
    } finally {
      setAsking(false);
    }
  };
  return (
    <form className="key-form" onSubmit={(event) => void ask(event)}>
      <label htmlFor="own-server">{words.address}</label>
      <div className="acts">
        <span className="field grow">
          <Icon name="plug" small />
          <input
            id="own-server"
            type="text"
            inputMode="url"
            // biome-ignore lint/a11y/noAutofocus: it was asked for
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder="localhost:8000/v1"
            value={address}
            onChange={({ target }) => setAddress(target.value)}
          />
        </span>
        <button type="submit" className="btn solid" disabled={address.trim() === "" || isAsking}>
          {isAsking ? words.asking : words.ask}
        </button>
        <button type="button" className="btn" onClick={onBack}>
          {all.back}
        </button>
      </div>
      <div className="small" aria-live="polite">
        {problem === undefined ? (
          <p className="dim">{words.ownServerIs}</p>
        ) : (
          <>
            <p className="del">{wordsOf(problem)}</p>
            {saysNext(problem) !== undefined && <p className="mid">{saysNext(problem)}</p>}
          </>
        )}
      </div>
    </form>
  );
}
