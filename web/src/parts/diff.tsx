//! The change of one file, line by line; long ones are folded.

import { memo, useMemo, useState } from "react";
import { useWords } from "../words";
import { type DiffLine, hunks } from "./hunks";
import { Icon } from "./icon";

/** Lines that are shown of a change before somebody unfolds it. */
const SHOWN = 12;

/** Lines over a fold: less is not worth a click. */
const SPARE = 4;

type Given = { unified: string; shown?: number };

export const Diff = memo(({ unified, shown = SHOWN }: Given) => {
  const words = useWords();
  const parts = useMemo(() => hunks(unified), [unified]);
  const [isWhole, setWhole] = useState(false);
  const count = parts.reduce((sum, { lines }) => sum + lines.length, 0);
  const folds = count > shown + SPARE;
  let left = folds && !isWhole ? shown : Number.POSITIVE_INFINITY;
  return (
    <div className="diff">
      {parts.map(({ lines }, at) => {
        const some = lines.slice(0, left);
        left -= some.length;
        const first = lines[0];
        if (some.length === 0) return null;
        return (
          <div key={`${first?.old}/${first?.now}`} className="hunk">
            {at > 0 && <div className="gap" aria-hidden="true" />}
            {some.map((line) => (
              <Line key={`${line.old}/${line.now}`} line={line} />
            ))}
          </div>
        );
      })}
      {folds && (
        <button type="button" className="fold" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          <Icon name={isWhole ? "up" : "down"} small />
          {isWhole ? words.call.fewerLines : words.call.moreLines(count - shown)}
        </button>
      )}
    </div>
  );
});

const SIGN = { same: "", add: "+", del: "−" };
const CLASS = { same: "l", add: "l a", del: "l d" };

function Line({ line: { kind, old, now, text, mark } }: { line: DiffLine }) {
  return (
    <div className={CLASS[kind]}>
      <i>{old}</i>
      <i>{now}</i>
      <u>{SIGN[kind]}</u>
      <span>
        {mark === undefined ? (
          text
        ) : (
          <>
            {text.slice(0, mark[0])}
            <mark>{text.slice(mark[0], mark[1])}</mark>
            {text.slice(mark[1])}
          </>
        )}
      </span>
    </div>
  );
}
