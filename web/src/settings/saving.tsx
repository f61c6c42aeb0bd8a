//! What would be written, before it is: the change to the file, what it frees, and from when on it holds once it is saved.

import { useState } from "react";
import { Icon, useKeys } from "../parts";
import type { Json } from "../proto";
import { useIsLive } from "../wire";
import { useWords } from "../words";
import { type Unsaved, useCheck } from "./unsaved";

export function Saving({ unsaved, file }: { unsaved: Unsaved; file: string }) {
  const words = useWords().settings;
  const { folder, changes, saved } = unsaved;
  const { problem, loosens, isChecked } = useCheck(folder, changes);
  const [isSaving, setSaving] = useState(false);
  const [trouble, setTrouble] = useState<string>();
  const isLive = useIsLive();
  const canSave = changes.size > 0 && isChecked && problem === null && !isSaving && isLive;
  const save = async () => {
    if (!canSave) return;
    setSaving(true);
    setTrouble(undefined);
    try {
      await unsaved.save();
    } catch (problem) {
      setTrouble(problem instanceof Error ? problem.message : String(problem));
    } finally {
      setSaving(false);
    }
  };
  useKeys({ "Mod-s": () => void save() });
  if (changes.size === 0) {
    return saved === undefined ? null : (
      <section className="sect saving" role="status">
        <header>
          <Icon name="check" small />
          <h2>{words.saved}</h2>
        </header>
        <p className="dim small">{words.savedIn(saved.file)}</p>
        <p className="dim small">{fromWhen(words.from, saved.from)}</p>
      </section>
    );
  }
  return (
    <section className="sect saving" aria-label={words.unsaved}>
      <header>
        <h2>{words.unsaved}</h2>
        <span className="end">{words.changes(changes.size)}</span>
      </header>
      <div className="well">
        <header>
          <span className="mono cut">{file}</span>
        </header>
        <Written unsaved={unsaved} />
      </div>
      {(problem !== null || trouble !== undefined) && (
        <p className="del small" role="alert">
          {problem?.message ?? trouble}
        </p>
      )}
      {loosens && <p className="small loosens">{words.loosens}</p>}
      <div className="acts">
        <button type="button" className="btn solid grow" disabled={!canSave} onClick={() => void save()}>
          {words.save} <kbd>Ctrl S</kbd>
        </button>
        <button type="button" className="btn" onClick={() => unsaved.drop()}>
          {words.drop}
        </button>
      </div>
    </section>
  );
}

function fromWhen(words: Record<string, string>, from: string | undefined): string {
  return words[from ?? "turn"] ?? words.turn ?? "";
}

const shown = (value: Json | undefined) => (value === undefined || value === null ? undefined : JSON.stringify(value));

/** Each change as its line was and would be. */
function Written({ unsaved: { changes, row } }: { unsaved: Unsaved }) {
  return (
    <div className="diff toml">
      {Array.from(changes, ([key, value]) => {
        const { layer, value: before } = row(key);
        const now = shown(value);
        return (
          <div key={key} className="hunk">
            {layer === "user" && (
              <div className="l d">
                <u>−</u>
                <span>
                  {key} = {before}
                </span>
              </div>
            )}
            {now !== undefined && (
              <div className="l a">
                <u>+</u>
                <span>
                  {key} = {now}
                </span>
              </div>
            )}
          </div>
        );
      })}
    </div>
  );
}
