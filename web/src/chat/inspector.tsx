//! What belongs to the session besides what was said: the list, the agents, the changes, what is full and what it cost.

import { Link } from "wouter";
import { type Agent, isLive, type View } from "../fold";
import { Glyph, Icon } from "../parts";
import type { Todo } from "../proto";
import { useChanges, useSession, useSlices } from "../wire";
import { useFormat, useWords } from "../words";

export function Inspector() {
  const words = useWords();
  return (
    <aside className="inspect" aria-label={words.inspect.label}>
      <TodoSection />
      <AgentsSection />
      <ChangesSection />
      <ContextSection />
      <SpentSection />
    </aside>
  );
}

function TodoSection() {
  const words = useWords();
  const { todos, plan } = useSlices("todo");
  if (todos.length === 0) return null;
  const done = todos.filter(({ status }) => status === "completed").length;
  return (
    <section className="sect">
      <header>
        <h2>{words.inspect.todo}</h2>
        {plan?.status === "accepted" && <span className="chip plan">{words.inspect.planAccepted}</span>}
        <span className="end">{words.block.todoDone(done, todos.length)}</span>
      </header>
      <div className="ticks" aria-hidden="true">
        {todos.map(({ id, status }) => (
          <i key={id} className={status === "completed" ? "on" : status === "in_progress" ? "now" : ""} />
        ))}
      </div>
      <ul className="todo">
        {todos.map((todo) => (
          <TodoLine key={todo.id} todo={todo} />
        ))}
      </ul>
    </section>
  );
}

function TodoLine({ todo: { text, status, parent } }: { todo: Todo }) {
  const words = useWords();
  const state = words.block.agentState;
  const names = [status === "completed" ? "done" : status === "in_progress" ? "now" : "", parent ? "in" : ""];
  return (
    <li className={names.filter(Boolean).join(" ")}>
      {status === "completed" && <Glyph shape="done" tone="done" label={state.completed} />}
      {status === "in_progress" && <Glyph shape="run" tone="run" label={state.running} />}
      {status === "pending" && <Glyph shape="wait" tone="wait" label={state.created} />}
      {status === "cancelled" && <Glyph shape="off" tone="off" label={state.cancelled} />}
      <span>{text}</span>
    </li>
  );
}

function AgentsSection() {
  const words = useWords();
  const view = useSlices("agents");
  const { agents } = view;
  if (agents.length === 0) return null;
  const working = agents.filter(({ node }) => node.state === "running").length;
  return (
    <section className="sect">
      <header>
        <h2>{words.inspect.agents}</h2>
        <span className="end">{words.inspect.atWorkCount(working)}</span>
      </header>
      {agents.map((agent) => (
        <AgentLine key={agent.node.id} agent={agent} view={view} />
      ))}
    </section>
  );
}

function AgentLine({ agent: { depth, node }, view }: { agent: Agent; view: View }) {
  const words = useWords();
  const format = useFormat();
  const { id } = useSession();
  const activity = view.activity[node.id];
  const asks = isLive(node.state) && (activity?.asks.length ?? 0) > 0;
  const does = activity?.does;
  const doing =
    node.state !== "running" || does === undefined
      ? words.block.agentState[node.state]
      : does.kind === "calls"
        ? does.summary
        : words.inspect.does.thinks;
  return (
    <div className="kid in" style={{ paddingLeft: 14 + 14 * depth }}>
      {asks ? (
        <Glyph shape="ask" tone="ask" label={words.inspect.does.waits} />
      ) : (
        <StateGlyph state={node.state} label={words.block.agentState[node.state]} />
      )}
      <Link className="mono to-agent" href={`/s/${id}/agents/${encodeURIComponent(node.name)}`}>
        {node.name}
      </Link>
      {asks ? <span className="ask cut">{words.inspect.does.waits}</span> : <span className="dim cut">{doing}</span>}
      <span className="end">{format.spent(node.subtree_usage)}</span>
    </div>
  );
}

function StateGlyph({ state, label }: { state: Agent["node"]["state"]; label: string }) {
  switch (state) {
    case "created":
      return <Glyph shape="wait" tone="wait" label={label} />;
    case "running":
      return <Glyph shape="run" tone="run" label={label} />;
    case "paused":
      return <Glyph shape="pause" tone="off" label={label} />;
    case "completed":
      return <Glyph shape="done" tone="done" label={label} />;
    case "failed":
      return <Glyph shape="fail" tone="fail" label={label} />;
    case "cancelled":
      return <Glyph shape="off" tone="off" label={label} />;
  }
}

function ChangesSection() {
  const words = useWords();
  const { id } = useSession();
  const { data, error } = useChanges();
  const files = data?.files.filter(({ by_others }) => by_others !== true) ?? [];
  const sum = (of: "added" | "removed") => files.reduce((all, file) => all + (file[of] ?? 0), 0);
  return (
    <section className="sect">
      <header>
        <h2>{words.inspect.changes}</h2>
        {files.length > 0 && (
          <span className="end">
            <span className="plus">+{sum("added")}</span> <span className="minus">−{sum("removed")}</span>
          </span>
        )}
      </header>
      {data !== undefined && files.length === 0 && <p className="dim">{words.inspect.noChanges}</p>}
      {data === undefined && error !== null && <p className="dim">{words.inspect.changesUnknown}</p>}
      {files.map(({ path, added = 0, removed = 0, kind }) => (
        <Link key={path} href={`/s/${id}/changes?file=${encodeURIComponent(path)}`} className="fileline">
          <Icon name={kind === "added" ? "plus" : "pen"} small />
          <span className="mono cut" title={path}>
            {path}
          </span>
          <span className="end">
            {added > 0 && <span className="plus">{added}</span>}
            {removed > 0 && <span className="minus">{removed}</span>}
          </span>
        </Link>
      ))}
    </section>
  );
}

function ContextSection() {
  const words = useWords();
  const format = useFormat();
  const { standing } = useSlices("standing");
  const { context } = standing;
  const percent = context && Math.min(100, Math.floor((context.tokens * 100) / context.window));
  return (
    <section className="sect">
      <header>
        <h2>{words.inspect.context}</h2>
        {context !== undefined && percent !== undefined && (
          <span className="end">
            {words.inspect.ofWindow(format.tokens(context.tokens), format.tokens(context.window), percent)}
          </span>
        )}
      </header>
      {percent === undefined ? (
        <p className="dim">{words.inspect.contextUnknown}</p>
      ) : (
        <div className="meter" role="img" aria-label={words.inspect.full(percent)}>
          <i className="m3" style={{ width: `${percent}%` }} />
        </div>
      )}
    </section>
  );
}

function SpentSection() {
  const words = useWords();
  const format = useFormat();
  const { standing } = useSlices("standing");
  const { usage } = standing;
  if (usage.input + usage.output === 0) return null;
  const cached = usage.input === 0 ? 0 : Math.round(((usage.cache_read ?? 0) * 100) / usage.input);
  const lines: [string, string][] = [
    [words.inspect.input, format.tokens(usage.input)],
    [words.inspect.output, format.tokens(usage.output)],
    [words.inspect.cached, `${cached} %`],
    [words.inspect.thoughts, format.tokens(usage.reasoning ?? 0)],
  ];
  return (
    <section className="sect">
      <header>
        <h2>{words.inspect.spent}</h2>
        <span className="end">{format.spent(usage) ?? words.inspect.noPrice}</span>
      </header>
      <div className="legend">
        {lines.map(([name, value]) => (
          <span key={name}>
            {name}
            <b>{value}</b>
          </span>
        ))}
      </div>
    </section>
  );
}
