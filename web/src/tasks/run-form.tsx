//! A workflow that is to be run: where, with what, and how it asks.

import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { SettingPicks } from "../composer";
import { Dialog } from "../parts";
import type { ApprovalMode, ShownWorkflow, WorkflowInput } from "../proto";
import { runWorkflow, useIsLive, useWire, workflow } from "../wire";
import { useWords } from "../words";
import { isNeeded, kindOf, readInputs, usualText } from "./inputs";

type Given = { name: string; folder: string; onClose: () => void };

export function RunForm({ name, folder, onClose }: Given) {
  const words = useWords();
  const { data, error } = useQuery({ queryKey: ["workflow", folder, name], queryFn: () => workflow(folder, name) });
  return (
    <Dialog label={words.workflows.runOf(name)} className="ask-form" onClose={onClose}>
      <h1>{words.workflows.runOf(name)}</h1>
      {error !== null && (
        <p className="trouble" role="alert">
          {error.message}
        </p>
      )}
      {data !== undefined && <Form shown={data} folder={folder} onClose={onClose} />}
    </Dialog>
  );
}

function Form({ shown, folder, onClose }: { shown: ShownWorkflow; folder: string; onClose: () => void }) {
  const words = useWords();
  const wire = useWire();
  const isLive = useIsLive();
  const [, go] = useLocation();
  const form = useRef<HTMLFormElement>(null);
  const [model, setModel] = useState("");
  const [approval, setApproval] = useState<ApprovalMode>("ask_first");
  const [trouble, setTrouble] = useState<string>();
  const [isOpening, setOpening] = useState(false);
  const inputs = Object.entries(shown.inputs);
  const run = async () => {
    const given = new FormData(form.current ?? undefined);
    const read = readInputs(shown.inputs, (name) => String(given.get(name) ?? ""));
    if ("wrong" in read) return setTrouble(words.workflows.wrong(read.wrong));
    setTrouble(undefined);
    setOpening(true);
    try {
      const wanted = { folder, approval, ...(model !== "" && { model }) };
      const id = await runWorkflow(wanted, shown, read.inputs);
      wire.rows.refresh();
      onClose();
      go(`/s/${id}/agents`);
    } catch (problem) {
      setTrouble(words.tasks.trouble(problem instanceof Error ? problem.message : String(problem)));
      setOpening(false);
    }
  };
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <p className="mid">{shown.description}</p>
      <p className="dim small">
        {words.workflows.tasks(shown.tasks.length)} · <span className="mono">{folder}</span> · {words.workflows.runWhat}
      </p>
      <h2>{words.workflows.inputs}</h2>
      {inputs.length === 0 && <p className="dim">{words.workflows.noInputs}</p>}
      {inputs.map(([name, input]) => (
        <label key={name} htmlFor={`input-${name}`}>
          <span>
            <b className="mono">{name}</b> {input.description}
            {isNeeded(input) && <span className="dim"> · {words.workflows.needed}</span>}
          </span>
          <InputField name={name} input={input} />
        </label>
      ))}
      <div className="tools">
        <SettingPicks model={model} approval={approval} folder={folder} onModel={setModel} onApproval={setApproval} />
      </div>
      {trouble !== undefined && (
        <p className="trouble" role="alert">
          {trouble}
        </p>
      )}
      <div className="acts">
        <button type="submit" className="btn solid" disabled={!isLive || isOpening}>
          {words.workflows.runNow}
        </button>
        <button type="button" className="btn ghost" onClick={onClose}>
          {words.tasks.cancel}
        </button>
      </div>
    </form>
  );
}

function InputField({ name, input }: { name: string; input: WorkflowInput }) {
  const words = useWords();
  const usual = usualText(input);
  const id = `input-${name}`;
  switch (kindOf(input)) {
    case "yes":
      return (
        <select id={id} className="field" name={name} defaultValue={usual}>
          <option value="true">{words.workflows.yes}</option>
          <option value="false">{words.workflows.no}</option>
        </select>
      );
    case "number":
      return <input id={id} className="field" name={name} inputMode="decimal" defaultValue={usual} />;
    case "text":
      return <textarea id={id} name={name} rows={usual.length > 80 || isNeeded(input) ? 2 : 1} defaultValue={usual} />;
    case "json":
      return <textarea id={id} name={name} className="mono" rows={3} defaultValue={usual} spellCheck={false} />;
  }
}
