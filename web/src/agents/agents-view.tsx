//! The agents of a session: who there is and what each did over time, workflows below, and one of them beside.

import { type ComponentType, useState } from "react";
import { Link, useLocation, useRoute } from "wouter";
import { Icon } from "../parts";
import { SessionContext, useAgentLog, useIsOpen, useSession, useSlices } from "../wire";
import { useFormat, useWords } from "../words";
import { AgentPanel } from "./agent-panel";
import { LanesTree, useRowsOf } from "./lanes-tree";
import { StandingGlyph } from "./standing";
import { beganAt, ROOT, type Row, rowNamed, rowsOf, rowWanted } from "./tree";
import { WorkflowPart } from "./workflow-part";

/** `Log` draws the conversation of the session around it. */
export function AgentsView({ Log }: { Log: ComponentType }) {
  const words = useWords();
  const { id } = useSession();
  const view = useSlices("agents", "workflows");
  const isOpen = useIsOpen();
  const rows = useRowsOf(rowsOf);
  const [, go] = useLocation();
  const [, given] = useRoute<{ agent?: string; what?: string }>("/s/:id/agents/:agent?/:what?");
  const [task, setTask] = useState<string>();
  const name = given?.agent;
  const base = `/s/${id}/agents`;
  const named = rowNamed(rows, name);
  const isAlone = rows.length < 2 && view.workflows.length === 0;
  const [first, setFirst] = useState<string>();
  const wanted = rows.find((row) => row.id === first) ?? rowWanted(rows);
  // Whoever is shown first stays, however things go on.
  const stays = isOpen && !isAlone ? wanted?.id : first;
  if (stays !== first) setFirst(stays);
  const chosen = named ?? (name === undefined ? wanted : undefined);
  const to = (row: Row) => `${base}/${encodeURIComponent(row.name)}`;

  if (!isOpen && isAlone) {
    return (
      <div className="skeleton" aria-hidden="true">
        <i />
        <i />
        <i />
      </div>
    );
  }
  if (isAlone && name === undefined) return <Alone session={id} />;
  const showsLog = given?.what === "log" && named !== undefined;
  return (
    <div className={name === undefined ? "agents" : "agents one"}>
      <div className="agents-stage">
        {showsLog ? (
          <AgentLogPart key={named.id} row={named} base={base} Log={Log} />
        ) : (
          <>
            <Head rows={rows} />
            <LanesTree
              rows={rows}
              chosen={chosen?.id}
              onChoose={(row) => go(to(row))}
              onOpen={(row) => go(`${to(row)}/log`)}
            />
            <WorkflowPart task={task} onTask={setTask} base={base} />
          </>
        )}
      </div>
      {chosen !== undefined && (
        <AgentPanel row={chosen} rows={rows} view={view} base={base} isWhole={named !== undefined} />
      )}
      {chosen === undefined && (
        <aside className="inspect agent-panel whole" aria-label={words.tree.panel}>
          <p className="sect mid">{words.tree.missing(name ?? "")}</p>
          <p className="sect">
            <Link className="btn" href={base}>
              {words.tree.back}
            </Link>
          </p>
        </aside>
      )}
    </div>
  );
}

function Head({ rows }: { rows: readonly Row[] }) {
  const words = useWords();
  const format = useFormat();
  const works = rows.filter(({ standing }) => standing === "running").length;
  const asks = rows.filter(({ standing }) => standing === "asks").length;
  const spent = rows[0] === undefined ? undefined : format.spent(rows[0].subtree);
  return (
    <div className="sub">
      <h2>{words.agents}</h2>
      {works > 0 && <span className="chip live">{words.tree.atWork(works)}</span>}
      {asks > 0 && <span className="chip ask">{words.tree.waitFor(asks)}</span>}
      <span className="dim small wide">
        {words.tree.all(rows.length, Math.max(...rows.map(({ level }) => level), 1))}
      </span>
      <span className="grow" />
      {spent !== undefined && <span className="dim num small">{words.tree.together(spent)}</span>}
    </div>
  );
}

function Alone({ session }: { session: string }) {
  const words = useWords();
  return (
    <div className="page">
      <h1>{words.tree.alone}</h1>
      <p className="mid">{words.tree.aloneHow}</p>
      <p className="acts">
        <Link href={`/s/${session}`} className="btn">
          {words.tree.toChat}
        </Link>
        <Link href="/workflows" className="btn">
          {words.tree.toWorkflows}
        </Link>
      </p>
    </div>
  );
}

/** What one agent said and did, in the same track as the conversation. */
function AgentLogPart({ row, base, Log }: { row: Row; base: string; Log: ComponentType }) {
  const words = useWords();
  const session = useSession();
  const isRoot = row.name === ROOT;
  const [since] = useState(() => Math.max(0, beganAt(session.view, row.id) - 1));
  const log = useAgentLog(row.id, isRoot ? 0 : since);
  return (
    <>
      <div className="sub">
        <Link href={base} className="btn small ghost icon" aria-label={words.tree.back}>
          <Icon name="left" small />
        </Link>
        <StandingGlyph standing={row.standing} />
        <h2>
          <span className="mono">{row.name}</span> {words.tree.log}
        </h2>
        <span className="grow" />
        <Link href={`${base}/${encodeURIComponent(row.name)}`} className="btn small only-narrow">
          {words.tree.say}
        </Link>
      </div>
      <SessionContext value={log}>
        <Log />
      </SessionContext>
    </>
  );
}
