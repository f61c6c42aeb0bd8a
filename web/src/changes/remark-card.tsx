//! What is said of a line: as it stands, and while it is written.

import { useEffect, useRef, useState } from "react";
import { Icon, Pick } from "../parts";
import { useWords } from "../words";
import type { Cell } from "./pairs";
import { type Place, placeOf, type Remark, samePlace } from "./remarks";

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

const onLine = (words: Words, { side, line }: Place) => (side === "before" ? words.onBefore(line) : words.on(line));

type WriteGiven = {
  place: Place;
  given: string;
  /** The lines that it can be about. */
  cells: readonly Cell[];
  onPlace: (cell: Cell) => void;
  onSave: (text: string) => void;
  onClose: () => void;
};

const SIGN = { same: " ", other: " ", added: "+", removed: "−" };

function isAt(place: Place, cell: Cell): boolean {
  const other = placeOf(place.path, cell);
  return other !== undefined && samePlace(place, other);
}

/** Enter keeps it, Escape leaves it. */
export function RemarkField({ place, given, cells, onPlace, onSave, onClose }: WriteGiven) {
  const words = useWords();
  const [text, setText] = useState(given);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div className="remark write">
      <header>
        <Icon name="note" small />
        <Pick
          label={words.review.remark.line}
          value={String(cells.findIndex((cell) => isAt(place, cell)))}
          options={cells.map((cell, at) => ({
            value: String(at),
            label: `${cell.after ?? cell.before} ${SIGN[cell.kind]} ${cell.text}`,
          }))}
          onPick={(at) => {
            const cell = cells[Number(at)];
            if (cell !== undefined) onPlace(cell);
          }}
        >
          {onLine(words.review.remark, place)}
        </Pick>
      </header>
      <textarea
        ref={field}
        rows={2}
        aria-label={words.review.remark.write}
        placeholder={words.review.remark.write}
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
