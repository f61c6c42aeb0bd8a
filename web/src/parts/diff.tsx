//! The change of one file, line by line; long ones are folded.

import { memo, useMemo, useRef, useState } from "react";
import { Coloured } from "../text/coloured";
import { type Parts, useColours } from "../text/colours";
import { useWords } from "../words";
import { type DiffLine, type Hunk, hunks } from "./hunks";
import { Icon } from "./icon";

/** Lines that are shown of a change before somebody unfolds it. */
const SHOWN = 12;

/** Lines over a fold: less is not worth a click. */
const SPARE = 4;

/** The name of the file tells in which language it is. */
type Given = { unified: string; path: string; shown?: number };

export const Diff = memo(({ unified, path, shown = SHOWN }: Given) => {
  const words = useWords();
  const parts = useMemo(() => hunks(unified), [unified]);
  const [isWhole, setWhole] = useState(false);
  const count = parts.reduce((sum, { lines }) => sum + lines.length, 0);
  const folds = count > shown + SPARE;
  let left = folds && !isWhole ? shown : Number.POSITIVE_INFINITY;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <div className="diff" tabIndex={0}>
      {parts.map((hunk, at) => {
        const some = Math.min(hunk.lines.length, left);
        left -= some;
        const first = hunk.lines[0];
        if (some === 0) return null;
        return <Lines key={`${first?.old}/${first?.now}`} hunk={hunk} shown={some} path={path} isFirst={at === 0} />;
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

/** The lines of one side as a text of their own, and where each begins in it. */
function side(lines: readonly DiffLine[], without: "add" | "del"): { text: string; starts: Map<DiffLine, number> } {
  const starts = new Map<DiffLine, number>();
  let text = "";
  for (const line of lines) {
    if (line.kind === without) continue;
    starts.set(line, text.length);
    text += `${line.text}\n`;
  }
  return { text, starts };
}

type HunkGiven = { hunk: Hunk; shown: number; path: string; isFirst: boolean };

function Lines({ hunk: { lines }, shown, path, isFirst }: HunkGiven) {
  const place = useRef<HTMLDivElement>(null);
  const [old, now] = useMemo(() => [side(lines, "add"), side(lines, "del")], [lines]);
  const oldParts = useColours(place, old.text, path);
  const nowParts = useColours(place, now.text, path);
  return (
    <div ref={place} className="hunk">
      {!isFirst && <div className="gap" aria-hidden="true" />}
      {lines.slice(0, shown).map((line) => {
        const isGone = line.kind === "del";
        const { text, starts } = isGone ? old : now;
        return (
          <Line
            key={`${line.old}/${line.now}`}
            line={line}
            side={text}
            start={starts.get(line) ?? 0}
            parts={isGone ? oldParts : nowParts}
          />
        );
      })}
    </div>
  );
}

const SIGN = { same: "", add: "+", del: "−" };
const CLASS = { same: "l", add: "l a", del: "l d" };

type LineGiven = { line: DiffLine; side: string; start: number; parts: Parts | undefined };

function Line({ line: { kind, old, now, text, mark }, side, start, parts }: LineGiven) {
  const piece = (from: number, to: number) => (
    <Coloured text={side} parts={parts} from={start + from} to={start + to} />
  );
  return (
    <div className={CLASS[kind]}>
      <i>{old}</i>
      <i>{now}</i>
      <u>{SIGN[kind]}</u>
      <span>
        {mark === undefined ? (
          piece(0, text.length)
        ) : (
          <>
            {piece(0, mark[0])}
            <mark>{piece(...mark)}</mark>
            {piece(mark[1], text.length)}
          </>
        )}
      </span>
    </div>
  );
}
