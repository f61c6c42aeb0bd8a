//! Lines of a change: beside each other, or one below the other.

import { Fragment, memo } from "react";
import { signs } from "../text";
import { useWords } from "../words";
import type { Cell, Pair } from "./pairs";

const SIGN = { same: "", other: "", added: "+", removed: "−" };
const TONE = { same: "", other: "", added: " a", removed: " d" };

export const PairLine = memo(({ pair: { left, right } }: { pair: Pair }) => (
  <div className="pair">
    <Half cell={left} number={left?.before} name="c2" />
    <Half cell={right} number={right?.after} name="c2 r" />
  </div>
));

function Half({ cell, number, name }: { cell: Cell | undefined; number: number | undefined; name: string }) {
  if (cell === undefined) return <div className={`${name} x`} />;
  return (
    <div className={name + TONE[cell.kind]}>
      <i>{number}</i>
      <u>{SIGN[cell.kind]}</u>
      <Text cell={cell} />
    </div>
  );
}

export const OneLine = memo(({ cell }: { cell: Cell }) => (
  <div className={`ln${TONE[cell.kind]}`}>
    <i>{cell.before}</i>
    <i>{cell.after}</i>
    <u>{SIGN[cell.kind]}</u>
    <Text cell={cell} />
  </div>
));

/** The words of a line, those that are different marked, and what can't be seen written out. */
function Text({ cell: { text, marks = [], unended } }: { cell: Cell }) {
  const words = useWords().review;
  const pieces: { from: number; to: number; isMarked: boolean }[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of marks) {
    if (from > at) pieces.push({ from: at, to: from, isMarked: false });
    pieces.push({ from, to, isMarked: true });
    at = to;
  }
  if (at < text.length) pieces.push({ from: at, to: text.length, isMarked: false });
  return (
    <span>
      {pieces.map(({ from, to, isMarked }) =>
        isMarked ? (
          <mark key={from}>{signs(text.slice(from, to))}</mark>
        ) : (
          <Fragment key={from}>{signs(text.slice(from, to))}</Fragment>
        ),
      )}
      {unended === true && <mark className="sign">⟪{words.unended}⟫</mark>}
    </span>
  );
}
