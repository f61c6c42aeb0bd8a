//! A key on its way in: it is tested with its provider before it is kept, and never shown again.

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { Icon } from "../parts";
import type { KeptKey } from "../proto";
import { keys, useIsLive } from "../wire";
import { useWords } from "../words";
import { pageOfKeys } from "./pages-of-keys";
import { saysNext, wordsOf } from "./words-of";

type Given = {
  provider: string;
  folder: string;
  /** Whether it takes the place of those that are kept. */
  replaces?: boolean;
  onKept: (kept: KeptKey) => void;
  onBack?: () => void;
};

export function KeyForm({ provider, folder, replaces = false, onKept, onBack }: Given) {
  const all = useWords();
  const words = all.keyForm;
  const queries = useQueryClient();
  const isLive = useIsLive();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [isTesting, setTesting] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const key = text.trim();
  const looksWrong = /\s/.test(key);
  const page = pageOfKeys(provider);

  const keep = async (event: FormEvent) => {
    event.preventDefault();
    if (key === "" || looksWrong || isTesting) return;
    setTesting(true);
    setProblem(undefined);
    try {
      const kept = await keys.set(folder, provider, key, replaces);
      setText("");
      await queries.invalidateQueries();
      onKept(kept);
    } catch (problem) {
      setProblem(problem);
      field.current?.select();
    } finally {
      setTesting(false);
    }
  };

  return (
    <form className="key-form" onSubmit={(event) => void keep(event)}>
      <label htmlFor={`key-${provider}`}>{words.label(provider)}</label>
      <div className="acts">
        <span className="field grow">
          <Icon name="key" small />
          <input
            ref={field}
            id={`key-${provider}`}
            type="password"
            // biome-ignore lint/a11y/noAutofocus: it was asked for
            autoFocus
            autoComplete="off"
            spellCheck={false}
            placeholder={words.paste}
            aria-invalid={looksWrong || problem !== undefined}
            aria-describedby={`key-${provider}-says`}
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              setProblem(undefined);
            }}
          />
        </span>
        <button type="submit" className="btn solid" disabled={key === "" || looksWrong || isTesting || !isLive}>
          {isTesting ? words.testing : words.testAndKeep}
        </button>
        {onBack !== undefined && (
          <button type="button" className="btn" onClick={onBack}>
            {all.back}
          </button>
        )}
      </div>
      <div id={`key-${provider}-says`} className="small" aria-live="polite">
        {looksWrong ? (
          <p className="del">{words.hasSpace}</p>
        ) : problem !== undefined ? (
          <>
            <p className="del">{wordsOf(problem)}</p>
            {saysNext(problem) !== undefined && <p className="mid">{saysNext(problem)}</p>}
          </>
        ) : (
          <p className="dim">{words.stays}</p>
        )}
        {page !== undefined && (
          <p className="dim">
            {words.none}{" "}
            <a className="link" href={page} target="_blank" rel="noopener noreferrer">
              {words.getOne(new URL(page).host)}
            </a>
          </p>
        )}
      </div>
    </form>
  );
}
