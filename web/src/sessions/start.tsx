//! The start: where something is to be done, what could be, and a field to say it.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { Field, SettingPicks } from "../composer";
import { FirstModel } from "../models";
import { Icon, useStored } from "../parts";
import type { ApprovalMode } from "../proto";
import { commandIn } from "../shell";
import { makeSession, models, Problem, recentFolders, useIsLive, useWire } from "../wire";
import { useWords } from "../words";
import { nameOf } from "./rows";

export function Start() {
  const words = useWords();
  const wire = useWire();
  const [, go] = useLocation();
  const asked = new URLSearchParams(useSearch()).get("folder");
  const [kept, keep] = useStored("folder");
  // What a link chose stays chosen, here and in the settings, until somebody chooses otherwise.
  useEffect(() => {
    if (asked === null) return;
    keep(asked);
    go("/", { replace: true });
  }, [asked, keep, go]);
  const [draft, setDraft] = useStored("draft.new");
  const [model, setModel] = useState("");
  const [approval, setApproval] = useState<ApprovalMode>("ask_first");
  const [trouble, setTrouble] = useState<string>();
  const [isOpening, setOpening] = useState(false);
  const isLive = useIsLive();
  const field = useRef<HTMLTextAreaElement>(null);
  const { data } = useQuery({ queryKey: ["folders"], queryFn: recentFolders });
  const folders = (data?.folders ?? []).filter(({ is_there }) => is_there);
  const folder = asked ?? kept ?? folders[0]?.folder ?? "";
  const text = draft ?? "";
  const [chosen, setChosen] = useState<string>();
  const [isChoosing, setChoosing] = useState(false);
  const { data: list } = useQuery({
    queryKey: ["models", folder],
    queryFn: () => models.list(folder),
    staleTime: 60_000,
  });
  // Without a model and a group nobody can be asked.
  const hasNone =
    list !== undefined && Object.keys(list.groups).length === 0 && !list.models.some((each) => each.default);

  const begin = async () => {
    const said = text.trim();
    if (said === "" || isOpening) return;
    if (hasNone) return setTrouble(words.start.needsModel);
    if (folder === "") return setTrouble(words.start.needsFolder);
    if (!/^(?:\/|[A-Za-z]:[\\/])/.test(folder)) return setTrouble(words.start.wholePath);
    setTrouble(undefined);
    setOpening(true);
    try {
      const { id } = await makeSession({ folder, approval, ...(model !== "" && { model }) });
      keep(folder);
      setDraft(null);
      const command = commandIn(said);
      if (command === undefined) wire.session(id).say(said, "now");
      else wire.shell(id).run(command);
      wire.rows.refresh();
      go(`/s/${id}`);
    } catch (problem) {
      const hint = problem instanceof Problem && problem.hint !== undefined ? ` ${problem.hint}` : "";
      setTrouble(`${problem instanceof Error ? problem.message : problem}${hint}`);
    } finally {
      setOpening(false);
    }
  };

  return (
    <div className="start">
      <h1>{words.start.title(nameOf(folder))}</h1>
      <FolderPick folder={folder} folders={folders.map((each) => each.folder)} onFolder={keep} />
      {(hasNone || isChoosing) && (
        <FirstModel
          folder={folder}
          onBusy={setChoosing}
          onDone={(model) => {
            setChosen(model);
            setChoosing(false);
            field.current?.focus();
          }}
        />
      )}
      {chosen !== undefined && !hasNone && (
        <p className="good-note" role="status">
          <Icon name="check" small /> {words.start.modelAnswers(chosen)}
        </p>
      )}
      <section className="composer" aria-label={words.composer.label}>
        {trouble !== undefined && (
          <p className="trouble" role="alert">
            {trouble}
          </p>
        )}
        <Field
          ref={field}
          label={words.start.placeholder}
          placeholder={words.start.placeholder}
          text={text}
          onText={setDraft}
          onSend={() => void begin()}
        />
        <div className="tools">
          <SettingPicks model={model} approval={approval} folder={folder} onModel={setModel} onApproval={setApproval} />
          <span className="grow" />
          <button
            type="button"
            className="send"
            aria-label={words.start.begin}
            title={words.start.begin}
            disabled={text.trim() === "" || !isLive || isOpening || hasNone}
            onClick={() => void begin()}
          >
            <Icon name="up" />
          </button>
        </div>
      </section>
      <section className="things">
        <h2>{words.start.tryIt}</h2>
        {words.start.things.map((thing, at) => (
          <button
            key={thing}
            type="button"
            className="row"
            onClick={() => {
              setDraft(thing);
              field.current?.focus();
            }}
          >
            <Icon name={(["eye", "term", "diff"] as const)[at] ?? "chat"} />
            {thing}
          </button>
        ))}
      </section>
    </div>
  );
}

type FolderGiven = { folder: string; folders: readonly string[]; onFolder: (folder: string) => void };

/** Folders that were worked in, and a field for any other. */
function FolderPick({ folder, folders, onFolder }: FolderGiven) {
  const words = useWords();
  const [writes, setWrites] = useState(false);
  const shown = folders.includes(folder) || folder === "" ? folders : [folder, ...folders];
  return (
    <fieldset className="folders">
      <legend className="hidden-label">{words.start.pickFolder}</legend>
      {shown.slice(0, 8).map((each) => (
        <button
          key={each}
          type="button"
          className="chip"
          aria-pressed={each === folder}
          title={each}
          onClick={() => onFolder(each)}
        >
          <Icon name="folder" small />
          {nameOf(each)}
        </button>
      ))}
      {writes || shown.length === 0 ? (
        <input
          className="field"
          aria-label={words.start.otherFolder}
          placeholder={words.start.otherFolder}
          defaultValue={folder}
          spellCheck={false}
          onChange={(event) => onFolder(event.target.value.trim())}
        />
      ) : (
        <button
          type="button"
          className="chip"
          aria-label={words.start.otherFolder}
          title={words.start.otherFolder}
          onClick={() => setWrites(true)}
        >
          <Icon name="plus" small />
        </button>
      )}
      {folder !== "" && <p className="mono dim cut">{folder}</p>}
    </fieldset>
  );
}
