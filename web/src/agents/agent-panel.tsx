//! One agent: what it wants, what it is there for, what it used and may use, what came of it, and what can be said to it.

import { useState } from "react";
import { Link } from "wouter";
import { cleanLine, type View } from "../fold";
import { BarTrack, Icon, useNow } from "../parts";
import type { AgentNode, SubtreeBudget, Usage } from "../proto";
import { Markdown } from "../text";
import { useFormat, useWords } from "../words";
import { Limits } from "./limits";
import { StandingGlyph } from "./standing";
import { Steer } from "./steer";
import { beganAt, openQuestion, ROOT, type Row } from "./tree";

type Given = { row: Row; rows: readonly Row[]; view: View; base: string; isWhole: boolean };

export function AgentPanel({ row, rows, view, base, isWhole }: Given) {
  const words = useWords();
  const { node, name } = row;
  const question = node === undefined ? undefined : openQuestion(view, row.id);
  const began = beganAt(view, row.id);
  const session = base.replace(/\/agents$/, "");
  return (
    <aside className={isWhole ? "inspect agent-panel whole" : "inspect agent-panel"} aria-label={words.tree.panel}>
      <Link href={base} className="fold back">
        <Icon name="left" small />
        {words.tree.back}
      </Link>
      <Head row={row} question={question} rows={rows} />
      <Facts row={row} rows={rows} />
      <Words node={node} />
      <Steer
        key={row.id}
        row={row}
        question={question}
        log={node === undefined ? session : `${base}/${encodeURIComponent(name)}/log`}
        chat={node === undefined || began === 0 ? undefined : `${session}?at=${began}`}
      />
      <Limits key={`limits ${row.id}`} row={row} />
    </aside>
  );
}

function Head({ row, question, rows }: { row: Row; question: string | undefined; rows: readonly Row[] }) {
  const words = useWords();
  const format = useFormat();
  const { standing, node, activity, name } = row;
  const asks = standing === "asks";
  const since = asks ? activity?.asks[0]?.since_ms : node === undefined ? undefined : Date.parse(node.changed);
  const now = useNow(asks || standing === "running");
  const state = asks ? words.tree.asks : standing === "rests" ? words.tree.rests : words.block.agentState[standing];
  const isTold = asks || standing === "running" || standing === "paused";
  const ago = since === undefined || !isTold ? undefined : format.duration(Math.max(1000, now - since));
  const wants = activity?.does?.kind === "wants" ? activity.does.summary : undefined;
  const parent = rows.find(({ id }) => id === node?.parent)?.name ?? ROOT;
  return (
    <section className={asks ? "sect asks" : "sect"}>
      <header>
        <StandingGlyph standing={standing} />
        <h2 className="mono">{name}</h2>
        {node !== undefined && <span className="chip">{node.role}</span>}
        <span className={asks ? "end ask" : "end"}>{[state, ago].filter(Boolean).join(" · ")}</span>
      </header>
      {asks && (
        <p className="say">
          {wants !== undefined && <code>{cleanLine(wants)}</code>}
          <span className="dim small">{words.tree.answerBelow}</span>
        </p>
      )}
      {question !== undefined && (
        <p className="say">
          <span className="dim">{words.tree.asksParent(parent)}: </span>
          {question}
        </p>
      )}
    </section>
  );
}

function Facts({ row, rows }: { row: Row; rows: readonly Row[] }) {
  const words = useWords();
  const format = useFormat();
  const { node, own, subtree, activity } = row;
  const parent = rows.find(({ id }) => id === node?.parent)?.name ?? ROOT;
  const answers = activity?.model;
  const total = own.input + own.output;
  const below = { ...subtree, cost: Math.max(0, (subtree.cost ?? 0) - (own.cost ?? 0)) };
  return (
    <section className="sect">
      <dl className="facts">
        {node !== undefined && (
          <>
            <dt>{words.tree.task}</dt>
            <dd>
              <Task text={node.task} />
            </dd>
            <dt>{words.tree.startedBy}</dt>
            <dd>
              <span className="mono">{parent}</span>{" "}
              <span className="dim">{words.tree.at(format.clock(Date.parse(node.created)))}</span>
            </dd>
          </>
        )}
        <dt>{words.tree.model}</dt>
        <dd>
          {row.model} {answers !== undefined && answers !== row.model && <span className="dim">{answers}</span>}
        </dd>
        <dt>{words.tree.used}</dt>
        <dd className="num">
          {[format.tokens(total), format.spent(own)].filter(Boolean).join(" · ")}{" "}
          {below.cost > 0 && <span className="dim">{words.tree.below(format.cost(below.cost))}</span>}
        </dd>
        {node !== undefined && (
          <>
            <dt>{words.tree.mayUse}</dt>
            <dd>
              <Budget budget={node.budget ?? {}} used={subtree} />
            </dd>
          </>
        )}
        {node !== undefined && node.progress > 0 && (
          <>
            <dt>{words.tree.saysIt}</dt>
            <dd>
              <Progress part={node.progress} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Progress({ part }: { part: number }) {
  const words = useWords();
  const said = words.tree.progress(Math.round(part * 100));
  return (
    <BarTrack part={part} label={said}>
      {said}
    </BarTrack>
  );
}

function Budget({ budget, used }: { budget: SubtreeBudget; used: Usage }) {
  const words = useWords();
  const format = useFormat();
  const { cost, tokens } = budget;
  if (cost == null && tokens == null) return <span className="dim">{words.tree.noLimit}</span>;
  const bar = (part: number, limit: string) => (
    <BarTrack part={part} isStill label={words.tree.usedOf(Math.round(part * 100))}>
      {limit}
    </BarTrack>
  );
  return (
    <>
      {cost != null && bar((used.cost ?? 0) / cost, format.cost(cost))}
      {tokens != null && bar((used.input + used.output) / tokens, format.tokens(tokens))}
    </>
  );
}

/** Characters of a task that are shown before somebody wants all. */
const TASK = 280;

function Task({ text }: { text: string }) {
  const words = useWords();
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > TASK;
  return (
    <>
      <span className="written">{isLong && !isWhole ? `${text.slice(0, TASK)}…` : text}</span>
      {isLong && !isWhole && (
        <button type="button" className="fold" onClick={() => setWhole(true)}>
          {words.tree.wholeTask}
        </button>
      )}
    </>
  );
}

/** What came of its task, or what it said last. */
function Words({ node }: { node: AgentNode | undefined }) {
  const words = useWords();
  const format = useFormat();
  if (node === undefined) return null;
  const { result, last_message, changed } = node;
  if (result == null && last_message == null) return null;
  const [title, text] =
    result?.kind === "output"
      ? [words.tree.result, typeof result.output === "string" ? result.output : undefined]
      : result?.kind === "error"
        ? [words.tree.why, result.message]
        : [words.tree.lastWords, last_message];
  return (
    <section className="sect">
      <header>
        <h2>{title}</h2>
        <span className="end">{format.clock(Date.parse(changed))}</span>
      </header>
      {text === undefined ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
        <pre className="out well" tabIndex={0}>
          {JSON.stringify(result?.kind === "output" ? result.output : undefined, undefined, 2)}
        </pre>
      ) : (
        <div className="say">
          <Markdown text={text ?? ""} />
        </div>
      )}
    </section>
  );
}
