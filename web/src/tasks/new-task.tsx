//! A new task: a session that begins with what is to be done, and works while somebody looks elsewhere.

import { useState } from "react";
import { useLocation } from "wouter";
import { SettingPicks } from "../composer";
import { Dialog } from "../parts";
import type { ApprovalMode } from "../proto";
import { makeSession, useIsLive, useWire } from "../wire";
import { useWords } from "../words";
import { FolderField, isWholePath, useFolder } from "./folder-field";

export function NewTask({ onClose }: { onClose: () => void }) {
  const words = useWords();
  const wire = useWire();
  const isLive = useIsLive();
  const [, go] = useLocation();
  const [folder, setFolder, folders] = useFolder();
  const [text, setText] = useState("");
  const [model, setModel] = useState("");
  const [approval, setApproval] = useState<ApprovalMode>("ask_first");
  const [trouble, setTrouble] = useState<string>();
  const [isOpening, setOpening] = useState(false);
  const begin = async () => {
    if (!isWholePath(folder)) return setTrouble(words.start.wholePath);
    setTrouble(undefined);
    setOpening(true);
    try {
      const { id } = await makeSession({ folder, approval, ...(model !== "" && { model }) });
      wire.session(id).say(text.trim(), "now");
      wire.rows.refresh();
      onClose();
      go(`/tasks/${id}`);
    } catch (problem) {
      setTrouble(words.tasks.trouble(problem instanceof Error ? problem.message : String(problem)));
      setOpening(false);
    }
  };
  return (
    <Dialog label={words.tasks.make} className="ask-form" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <h1>{words.tasks.make}</h1>
        <p className="dim">{words.tasks.makeWhat}</p>
        <label>
          <span>{words.tasks.say}</span>
          <textarea autoFocus rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
        <FolderField label={words.tasks.folder} folder={folder} folders={folders} onFolder={setFolder} />
        <div className="tools">
          <SettingPicks model={model} approval={approval} folder={folder} onModel={setModel} onApproval={setApproval} />
        </div>
        {trouble !== undefined && (
          <p className="trouble" role="alert">
            {trouble}
          </p>
        )}
        <div className="acts">
          <button type="submit" className="btn solid" disabled={text.trim() === "" || !isLive || isOpening}>
            {words.tasks.begin}
          </button>
          <button type="button" className="btn ghost" onClick={onClose}>
            {words.tasks.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
