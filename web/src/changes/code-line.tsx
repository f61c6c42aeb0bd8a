//! Lines of a change: beside each other, or one below the other.

import { Fragment, memo } from "react";
import type { Hunk } from "../proto";
import { Coloured, signs } from "../text";
import { useWords } from "../words";
import { type Tinted, useTints } from "./colours";
import type { Cell, Pair } from "./pairs";
import type { Picked } from "./spans";

const SIGN = { same: "", other: "", added: "+", removed: "−" };
const TONE = { same: "", other: "", added: " a", removed: " d" };

/** A line stands in a change, and that in a file. */
type Of = { hunk: Hunk; path: string };

type PairGiven = Of & { pair: Pair; picked: Picked };

export const PairLine = memo(({ pair: { left, right }, picked, hunk, path }: PairGiven) => {
  const tint = useTints(hunk, path);
  const half = (cell: Cell | undefined, isPicked: boolean) => ({ cell, isPicked, tinted: cell && tint(cell) });
  return (
    <div className="pair">
      <Half {...half(left, picked === "left" || picked === "both")} number={left?.before} name="c2" />
      <Half {...half(right, picked === "right" || picked === "both")} number={right?.after} name="c2 r" />
    </div>
  );
});

type HalfGiven = {
  cell: Cell | undefined;
  tinted: Tinted | undefined;
  number: number | undefined;
  name: string;
  isPicked: boolean;
};

function Half({ cell, tinted, number, name, isPicked }: HalfGiven) {
  if (cell === undefined) return <div className={`${name} x`} />;
  return (
    <div className={name + TONE[cell.kind] + (isPicked ? " picked" : "")}>
      <i>{number}</i>
      <u>{SIGN[cell.kind]}</u>
      <Text cell={cell} tinted={tinted} />
    </div>
  );
}

type LineGiven = Of & { cell: Cell; isPicked?: boolean };

export const OneLine = memo(({ cell, hunk, path, isPicked = false }: LineGiven) => {
  const tint = useTints(hunk, path);
  return (
    <div className={`ln${TONE[cell.kind]}${isPicked ? " picked" : ""}`}>
      <i>{cell.before}</i>
      <i>{cell.after}</i>
      <u>{SIGN[cell.kind]}</u>
      <Text cell={cell} tinted={tint(cell)} />
    </div>
  );
});

type TextGiven = { cell: Cell; tinted: Tinted | undefined };

/** The words of a line in their colours, those that are different marked, and what can't be seen written out. */
function Text({ cell: { text, marks = [], unended }, tinted }: TextGiven) {
  const words = useWords().review;
  const piece = (from: number, to: number) =>
    tinted === undefined ? (
      signs(text.slice(from, to))
    ) : (
      <Coloured text={tinted.text} parts={tinted.parts} from={tinted.from + from} to={tinted.from + to} />
    );
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
        isMarked ? <mark key={from}>{piece(from, to)}</mark> : <Fragment key={from}>{piece(from, to)}</Fragment>,
      )}
      {unended === true && <mark className="sign">⟪{words.unended}⟫</mark>}
    </span>
  );
}
