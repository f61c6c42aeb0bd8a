//! What is above the changes: from when to when, how much, how much of it was reviewed, and what is done with all of it.

import { Icon, Key, Pick } from "../parts";
import { useFormat, useWords } from "../words";
import type { Acts } from "./acts";
import type { Range } from "./range";
import { RangePicks } from "./range-picks";
import type { File } from "./shown";

type Given = {
  range: Range;
  files: readonly File[];
  kept: { kept: number; all: number };
  current: string | undefined;
  /** How lines stand, where there is room for a choice. */
  layout: "beside" | "inline" | undefined;
  acts: Acts;
  onRange: (range: Range) => void;
  onLayout: (layout: "beside" | "inline") => void;
  onChoose: (path: string) => void;
  onKeepAll: () => void;
  onRevertAll: () => void;
};

export function Top({ range, files, kept, current, layout, acts, ...on }: Given) {
  const words = useWords().review;
  const format = useFormat();
  const own = files.filter(({ by_others }) => !by_others);
  const sum = (of: "added" | "removed") => own.reduce((all, file) => all + file[of], 0);
  const who = [...new Set(own.flatMap(({ agents }) => agents))];
  const isAll = kept.kept === kept.all;
  const off = acts.keepOff ?? acts.revertOff;
  return (
    <div className="sub review-top">
      <RangePicks range={range} onRange={on.onRange} />
      {files.length > 0 && (
        <>
          <span className="plus">+{format.count(sum("added"))}</span>
          <span className="minus">−{format.count(sum("removed"))}</span>
          <span className="dim cut wide">{words.filesBy(own.length, format.list(who))}</span>
          <span className="narrow">
            <Pick
              label={words.file}
              value={current ?? ""}
              options={files.map(({ path }) => ({ value: path, label: path }))}
              onPick={on.onChoose}
            >
              <Icon name="file" small />
            </Pick>
          </span>
          <span className="grow" />
          {off !== undefined && <span className="dim small cut wide">{off}</span>}
          <span className="dim num small wide">{words.reviewed(kept.kept, kept.all)}</span>
          {layout !== undefined && <Layout layout={layout} onLayout={on.onLayout} />}
          <button
            type="button"
            className="btn"
            disabled={acts.revertOff !== undefined || isAll}
            title={acts.revertOff}
            onClick={on.onRevertAll}
          >
            {words.revertAll}
          </button>
          <button
            type="button"
            className="btn solid"
            disabled={acts.keepOff !== undefined || isAll}
            title={acts.keepOff}
            onClick={on.onKeepAll}
          >
            {words.keepAll} <Key of="keepAll" />
          </button>
        </>
      )}
    </div>
  );
}

type LayoutGiven = { layout: "beside" | "inline"; onLayout: (layout: "beside" | "inline") => void };

function Layout({ layout, onLayout }: LayoutGiven) {
  const words = useWords().review;
  const choices = [
    { name: "beside", icon: "split", label: words.beside },
    { name: "inline", icon: "rows", label: words.inline },
  ] as const;
  return (
    <div className="seg wide" role="radiogroup" aria-label={words.layout}>
      {choices.map(({ name, icon, label }) => (
        // biome-ignore lint/a11y/useSemanticElements: it is one of two, in a row
        <button key={name} type="button" role="radio" aria-checked={layout === name} onClick={() => onLayout(name)}>
          <Icon name={icon} small />
          {label}
        </button>
      ))}
    </div>
  );
}
