//! Lines of a change: beside each other, or one below the other.

import { Fragment, memo } from "react";
import { signs } from "../text";
import { useWords } from "../words";
import type { Cell, Pair } from "./pairs";
import type { Picked } from "./spans";

const SIGN = { same: "", other: "", added: "+", removed: "−" };
const TONE = { same: "", other: "", added: " a", removed: " d" };

type PairGiven = { pair: Pair; picked: Picked };

export const PairLine = memo(({ pair: { left, right }, picked }: PairGiven) => (
  <div className="pair">
    <Half cell={left} number={left?.before} name="c2" isPicked={picked === "left" || picked === "both"} />
    <Half cell={right} number={right?.after} name="c2 r" isPicked={picked === "right" || picked === "both"} />
  </div>
));

type HalfGiven = { cell: Cell | undefined; number: number | undefined; name: string; isPicked: boolean };

function Half({ cell, number, name, isPicked }: HalfGiven) {
  if (cell === undefined) return <div className={`${name} x`} />;
  return (
    <div className={name + TONE[cell.kind] + (isPicked ? " picked" : "")}>
      <i>{number}</i>
      <u>{SIGN[cell.kind]}</u>
      <Text cell={cell} />
    </div>
  );
}

type LineGiven = { cell: Cell; isPicked?: boolean };

export const OneLine = memo(({ cell, isPicked = false }: LineGiven) => (
  <div className={`ln${TONE[cell.kind]}${isPicked ? " picked" : ""}`}>
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
