//! What is said of a line: as it stands, and while it is written.

import { useEffect, useRef, useState } from "react";
import { Pick as Choice, Icon } from "../parts";
import { useWords } from "../words";
import type { Cell } from "./pairs";
import { covers, endsAt, lastOf, type Place, type Remark } from "./remarks";

type Given = {
  remark: Remark;
  onChange: () => void;
  onDrop: () => void;
  onNext: () => void;
};

export function RemarkCard({ remark, onChange, onDrop, onNext }: Given) {
  const words = useWords().review.remark;
  return (
    <div className="remark">
      <header>
        <Icon name="note" small />
        <span>{onLine(words, remark)}</span>
        <span className="grow" />
        <span>{words.notSent}</span>
      </header>
      <p>{remark.text}</p>
      <footer>
        <button type="button" className="btn small" onClick={onNext}>
          {words.next}
        </button>
        <button type="button" className="btn small ghost" onClick={onChange}>
          {words.change}
        </button>
        <button type="button" className="btn small ghost" onClick={onDrop}>
          {words.drop}
        </button>
      </footer>
    </div>
  );
}

type Words = ReturnType<typeof useWords>["review"]["remark"];

function onLine(words: Words, { side, line, to }: Place): string {
  if (to !== undefined) return side === "before" ? words.onManyBefore(line, to) : words.onMany(line, to);
  return side === "before" ? words.onBefore(line) : words.on(line);
}

type WriteGiven = {
  place: Place;
  given: string;
  /** The lines that it can be about. */
  cells: readonly Cell[];
  onPlace: (cells: readonly Cell[]) => void;
  onSave: (text: string) => void;
  onClose: () => void;
};

const SIGN = { same: " ", other: " ", added: "+", removed: "−" };

type LinesGiven = Pick<WriteGiven, "place" | "cells" | "onPlace">;

/** From which line to which: whoever can't drag along numbers chooses here. */
function LinePicks({ place, cells, onPlace }: LinesGiven) {
  const words = useWords().review.remark;
  const from = cells.findIndex((cell) => covers(place, cell));
  const to = cells.findLastIndex((cell) => endsAt(place, cell));
  const options = (first: number) =>
    cells.slice(first).map((cell, at) => ({
      value: String(first + at),
      label: `${cell.after ?? cell.before} ${SIGN[cell.kind]} ${cell.text}`,
    }));
  const pick = (from: number, to: number) => onPlace(cells.slice(from, Math.max(from, to) + 1));
  return (
    <>
      <Choice
        label={words.firstLine}
        value={String(from)}
        options={options(0)}
        onPick={(first) => pick(Number(first), place.to === undefined ? Number(first) : to)}
      >
        {onLine(words, place)}
      </Choice>
      <Choice
        label={words.lastLine}
        value={String(to)}
        options={options(Math.max(0, from))}
        onPick={(last) => pick(from, Number(last))}
      >
        {words.upTo(lastOf(place))}
      </Choice>
    </>
  );
}

/** Enter keeps it, Escape leaves it. */
export function RemarkField({ place, given, cells, onPlace, onSave, onClose }: WriteGiven) {
  const words = useWords();
  const { write, writeMany } = words.review.remark;
  const about = place.to === undefined ? write : writeMany;
  const [text, setText] = useState(given);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="remark write">
      <header>
        <Icon name="note" small />
        <LinePicks place={place} cells={cells} onPlace={onPlace} />
      </header>
      <textarea
        ref={field}
        rows={2}
        aria-label={about}
        placeholder={about}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing || event.keyCode === 229) return;
          if (event.key === "Escape") onClose();
          else if (event.key === "Enter" && !event.shiftKey) onSave(text);
          else return;
          event.preventDefault();
        }}
      />
      <footer>
        <button type="button" className="btn small" disabled={text.trim() === ""} onClick={() => onSave(text)}>
          {words.review.remark.keep} <kbd>⏎</kbd>
        </button>
        <button type="button" className="btn small ghost" onClick={onClose}>
          {words.back} <kbd>Esc</kbd>
        </button>
      </footer>
    </div>
  );
}
