//! Bars, one a day, drawn by hand: what was read from the cache, what was read anew, what was written; or money.

import { useFormat, useWords } from "../words";
import { type Day, tokensOf } from "./sums";

const WIDTH = 720;
const HEIGHT = 160;

/** Room for the days below. */
const FOOT = 18;

export type What = "tokens" | "money";

export function Bars({ days, what }: { days: readonly Day[]; what: What }) {
  const words = useWords().usage;
  const format = useFormat();
  const amount = ({ sum }: Day) => (what === "money" ? (sum.cost ?? 0) : tokensOf(sum));
  const told = (day: Day) => (what === "money" ? format.cost(amount(day)) : format.tokens(amount(day)));
  const most = Math.max(...days.map(amount), 0);
  const wide = WIDTH / days.length;
  const high = (part: number) => (most === 0 ? 0 : (part / most) * (HEIGHT - FOOT - 14));
  const every = Math.ceil(days.length / 5);
  const peak = days.reduce((best, day) => (amount(day) > amount(best) ? day : best), days[0] as Day);
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={words.chart(days.length, format.date(peak.day), told(peak))}
    >
      {days.map((day, at) => {
        const { input, output, cache_read } = day.sum;
        const parts =
          what === "money"
            ? [{ name: "fresh", part: amount(day) }]
            : [
                { name: "cached", part: cache_read },
                { name: "fresh", part: Math.max(0, input - cache_read) },
                { name: "out", part: output },
              ];
        let top = HEIGHT - FOOT;
        return (
          <g key={day.day}>
            <title>{`${format.date(day.day)} · ${told(day)}`}</title>
            <rect className="room" x={at * wide} y={0} width={wide} height={HEIGHT - FOOT} />
            {parts.map(({ name, part }) => {
              const height = high(part);
              top -= height;
              return (
                <rect
                  key={name}
                  className={name}
                  x={at * wide + wide * 0.15}
                  y={top}
                  width={wide * 0.7}
                  height={height}
                />
              );
            })}
            {day === peak && amount(day) > 0 && (
              <text className="peak" {...within(at, days.length)} y={top - 4}>
                {told(day)}
              </text>
            )}
            {(days.length - 1 - at) % every === 0 && (
              <text {...within(at, days.length)} y={HEIGHT - FOOT + 5} dominantBaseline="hanging">
                {format.date(day.day)}
              </text>
            )}
          </g>
        );
      })}
      <line x1={0} x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
    </svg>
  );
}

/** Where words stand that belong to a day: in its middle, and at the ends no further than the picture goes. */
function within(at: number, count: number): { x: number; textAnchor: "start" | "middle" | "end" } {
  const wide = WIDTH / count;
  const middle = (at + 0.5) * wide;
  if (middle < 60) return { x: at * wide, textAnchor: "start" };
  if (middle > WIDTH - 60) return { x: (at + 1) * wide, textAnchor: "end" };
  return { x: middle, textAnchor: "middle" };
}
