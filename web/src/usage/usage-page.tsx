//! The page of what was used: in all, by day, model and agent, by folder and session.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { Icon } from "../parts";
import type { SessionRow, UsageRow } from "../proto";
import { usage, usedSessions } from "../wire";
import { useFormat, useWords } from "../words";
import { Bars, type What } from "./bars";
import { add, byDay, cachedOf, nothing, type Sum, summed, tokensOf } from "./sums";

const SPANS = [7, 30, 90] as const;

const DAY = 24 * 60 * 60 * 1000;

/** Rows of a table that are shown before somebody wants more. */
const SHOWN = 10;

export function UsagePage() {
  const all = useWords();
  const words = all.usage;
  const [span, setSpan] = useState<number>(30);
  const [what, setWhat] = useState<What>("tokens");
  const { data, error, refetch } = useQuery({
    queryKey: ["usage", span],
    queryFn: async () => {
      const [report, rows] = await Promise.all([usage(span), usedSessions(new Date(Date.now() - span * DAY))]);
      return { report, rows };
    },
    refetchInterval: 30_000,
  });
  const rows = data?.rows ?? [];
  const used = data?.report.rows ?? [];
  const sum = add(nothing(), data?.report.total ?? { input: 0, output: 0 });
  const usageOf = ({ usage }: SessionRow | UsageRow) => usage;
  const titles = new Map(rows.map(({ id, title }) => [id, title]));
  return (
    <div className="usage">
      <header className="set-bar">
        <h1>{words.title}</h1>
        <span className="grow" />
        <div className="seg" role="radiogroup" aria-label={words.span}>
          {SPANS.map((each) => (
            // biome-ignore lint/a11y/useSemanticElements: it is one of few, in a row
            <button key={each} type="button" role="radio" aria-checked={span === each} onClick={() => setSpan(each)}>
              {words.days(each)}
            </button>
          ))}
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is long is scrolled by keyboard, too */}
      <section className="usage-body" aria-label={words.title} tabIndex={0}>
        {error !== null && (
          <p role="alert">
            <span className="del">{error.message}</span>{" "}
            <button type="button" className="btn small" onClick={() => void refetch()}>
              {all.retry}
            </button>
          </p>
        )}
        {data !== undefined && tokensOf(sum) === 0 ? (
          <p className="dim">{words.nothing(span)}</p>
        ) : (
          data !== undefined && (
            <>
              <Figures sum={sum} sessions={data.report.sessions} />
              <section className="block-of">
                <div className="title-line">
                  <h2>{words.byDay}</h2>
                  <span className="grow" />
                  <div className="seg" role="radiogroup" aria-label={words.what}>
                    {(["tokens", "money"] as const).map((each) => (
                      // biome-ignore lint/a11y/useSemanticElements: it is one of few, in a row
                      <button
                        key={each}
                        type="button"
                        role="radio"
                        aria-checked={what === each}
                        disabled={each === "money" && sum.cost === undefined}
                        onClick={() => setWhat(each)}
                      >
                        {words.whats[each]}
                      </button>
                    ))}
                  </div>
                </div>
                <Bars days={byDay(used, data.report.to, span)} what={what} />
                {what === "tokens" && (
                  <p className="legend-of small">
                    <i className="cached" /> {words.cachedInput} <i className="fresh" /> {words.freshInput}{" "}
                    <i className="out-of" /> {words.output}
                  </p>
                )}
              </section>
              {data.report.cut && <p className="dim small">{words.cut}</p>}
              <Table title={words.byModel} all={summed(used, ({ model }) => model, usageOf)} sum={sum} name={same} />
              <Table
                title={words.byAgent}
                all={summed(used, ({ agent }) => agent ?? "", usageOf)}
                sum={sum}
                name={(agent) => agent || words.session}
              />
              <Table title={words.byFolder} all={summed(rows, ({ cwd }) => cwd, usageOf)} sum={sum} name={nameOf} />
              <Table
                title={words.bySession}
                all={summed(rows, ({ id }) => id, usageOf)}
                sum={sum}
                name={(id) => titles.get(id) || all.untitled}
                link={(id) => `/s/${id}`}
              />
            </>
          )
        )}
      </section>
    </div>
  );
}

const same = (name: string) => name;

const nameOf = (folder: string) => folder.split(/[\\/]/).filter(Boolean).at(-1) ?? folder;

function Figures({ sum, sessions }: { sum: Sum; sessions: number }) {
  const words = useWords().usage;
  const format = useFormat();
  const figures: [string, string, string][] = [
    [
      words.money,
      sum.cost === undefined ? words.noPrice : format.cost(sum.cost),
      sum.unpriced > 0 ? words.unpriced(sum.unpriced) : "",
    ],
    [words.input, format.tokens(sum.input), words.cached(cachedOf(sum))],
    [words.output, format.tokens(sum.output), sum.reasoning > 0 ? words.thoughts(format.tokens(sum.reasoning)) : ""],
    [words.sessions, format.count(sessions), ""],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, figure, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b className="num">{figure}</b>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

type TableGiven = {
  title: string;
  all: readonly [string, Sum][];
  sum: Sum;
  name: (key: string) => string;
  link?: (key: string) => string;
};

function Table({ title, all, sum, name, link }: TableGiven) {
  const words = useWords();
  const format = useFormat();
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? all : all.slice(0, SHOWN);
  return (
    <section className="block-of">
      <table className="tbl">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{words.usage.name}</th>
            <th scope="col" className="share">
              {words.usage.share}
            </th>
            <th scope="col">{words.usage.tokens}</th>
            <th scope="col" className="wide">
              {words.usage.cachedShort}
            </th>
            <th scope="col">{words.usage.money}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(([key, used]) => (
            <tr key={key}>
              <th scope="row" className="cut" title={key}>
                {link === undefined ? name(key) : <Link href={link(key)}>{name(key)}</Link>}
              </th>
              <td className="share">
                <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                  <rect className="room" width="100" height="6" />
                  <rect className="fresh" width={(tokensOf(used) / Math.max(tokensOf(sum), 1)) * 100} height="6" />
                </svg>
              </td>
              <td className="num">{format.tokens(tokensOf(used))}</td>
              <td className="num wide">{cachedOf(used)} %</td>
              <td className="num">{used.cost === undefined ? "–" : format.cost(used.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < all.length && (
        <button type="button" className="row dim" onClick={() => setWhole(true)}>
          <Icon name="down" small />
          {words.usage.more(all.length - shown.length)}
        </button>
      )}
    </section>
  );
}
