//! What would be written, before it is: the change to the file, what it frees, and from when on it holds once it is saved.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Diff, Icon, useKeys } from "../parts";
import type { SettingsPreview } from "../proto";
import { settings, useIsLive } from "../wire";
import { useWords } from "../words";
import { type Unsaved, useCheck } from "./unsaved";

export function Saving({ unsaved, file }: { unsaved: Unsaved; file: string }) {
  const words = useWords().settings;
  const { folder, changes, saved } = unsaved;
  const { problem, loosens, isChecked } = useCheck(folder, changes);
  const all = Array.from(changes, ([key, value]) => ({ key, value }));
  const { data: preview } = useQuery({
    queryKey: ["settings.preview", folder, all],
    queryFn: () => settings.preview(folder, all),
    // What does not fit changes no file.
    enabled: changes.size > 0 && isChecked && problem === null,
    placeholderData: keepPreviousData,
    retry: false,
  });
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
          <span className="mono cut">{preview?.file ?? file}</span>
          {preview?.exists === false && <span className="dim">{words.newFile}</span>}
        </header>
        <Written preview={preview} />
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

/** What would be different in the file, with the lines around it. */
function Written({ preview }: { preview: SettingsPreview | undefined }) {
  const words = useWords().settings;
  if (preview === undefined) return <p className="dim pad small waits-a-while">{words.comes}</p>;
  return (
    <>
      {preview.diff !== "" && <Diff unified={preview.diff} path="config.toml" shown={40} />}
      {preview.hides_change === true && <p className="dim pad small">{words.hidesChange}</p>}
    </>
  );
}
