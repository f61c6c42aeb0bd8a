//! How the agent works: its mode, its model, when the person is asked, its tool level.

import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { Pick } from "../parts";
import type { ApprovalMode, Mode, ModelList } from "../proto";
import { models } from "../wire";
import { useWords } from "../words";

const MODES: readonly Mode[] = ["agent", "plan", "ask", "debug"];

const APPROVALS: readonly ApprovalMode[] = ["manual", "ask_first", "accept_edits", "auto"];

const LEVELS = [1, 2, 3, 4, 5, 6, 7, 8] as const;

export function ModePick({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  const words = useWords();
  return (
    <>
      <div className="seg wide" role="radiogroup" aria-label={words.composer.mode}>
        {MODES.map((each) => (
          // biome-ignore lint/a11y/useSemanticElements: it is one of few, in a row
          <button key={each} type="button" role="radio" aria-checked={mode === each} onClick={() => onMode(each)}>
            {words.composer.modes[each]}
          </button>
        ))}
      </div>
      <span className="narrow">
        <Pick
          label={words.composer.mode}
          value={mode}
          options={MODES.map((value) => ({ value, label: words.composer.modes[value] }))}
          onPick={(value) => onMode(value as Mode)}
        >
          {words.composer.modes[mode]}
        </Pick>
      </span>
    </>
  );
}

export type Settings = {
  model: string;
  answers?: string | undefined;
  approval: ApprovalMode;
  generation?: number;
  folder: string;
  onModel: (model: string) => void;
  onApproval: (approval: ApprovalMode) => void;
  onGeneration?: (generation: number) => void;
};

export function SettingPicks({
  model,
  answers,
  approval,
  generation,
  folder,
  onModel,
  onApproval,
  onGeneration,
}: Settings) {
  const words = useWords();
  const { data } = useQuery({
    queryKey: ["models", folder],
    queryFn: () => models.list(folder),
    staleTime: 60_000,
    enabled: folder !== "",
  });
  const usual = data?.models.find((each) => each.default)?.name;
  // One is named, and none can be asked: where nothing is named yet, the start leads to a first one.
  const hasNone =
    model !== "" && data !== undefined && data.models.length === 0 && Object.keys(data.groups).length === 0;
  return (
    <>
      {hasNone && (
        <Link href="/settings/models" className="btn small">
          {words.composer.noModel}
        </Link>
      )}
      <Pick
        label={words.composer.model}
        value={model || (usual ?? "")}
        options={offered(model || (usual ?? ""), data, words.composer)}
        onPick={onModel}
      >
        <span className="cut model">{model || usual || words.composer.usualModel}</span>
        {answers !== undefined && answers !== model && <span className="dim wide">{answers.split("/").at(-1)}</span>}
      </Pick>
      {generation !== undefined && onGeneration !== undefined && generation > 0 && (
        <Pick
          wide
          label={words.composer.level}
          value={String(generation)}
          options={LEVELS.map((level) => ({ value: String(level), label: words.composer.levelShort(level) }))}
          onPick={(level) => onGeneration(Number(level))}
        >
          <span className="gen" aria-hidden="true">
            {LEVELS.map((level) => (
              <i key={level} className={level <= generation ? "on" : ""} />
            ))}
          </span>
          {words.composer.levelShort(generation)}
        </Pick>
      )}
      <Pick
        label={words.composer.approval}
        value={approval}
        options={APPROVALS.map((value) => ({ value, label: words.composer.approvals[value] }))}
        onPick={(value) => onApproval(value as ApprovalMode)}
      >
        <span className="cut">{words.composer.approvals[approval]}</span>
      </Pick>
    </>
  );
}

type Names = { groups: string; models: string; usualModel: string };

function offered(model: string, list: ModelList | undefined, words: Names) {
  const option = (name: string) => ({ value: name, label: name });
  const groups = Object.keys(list?.groups ?? {});
  const models = (list?.models ?? []).filter(({ usable }) => usable).map(({ name }) => name);
  const known = model === "" || groups.includes(model) || models.includes(model);
  return [
    ...(model === "" ? [{ value: "", label: words.usualModel }] : known ? [] : [option(model)]),
    ...(groups.length > 0 ? [{ label: words.groups, options: groups.map(option) }] : []),
    ...(models.length > 0 ? [{ label: words.models, options: models.map(option) }] : []),
  ];
}
