//! A workflow as a graph: a button a task, lines between them, and arrows that lead along these.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Icon, Key, useKeys, useNow } from "../parts";
import type { WorkflowTask } from "../proto";
import { useFormat, useWords } from "../words";
import { TaskGlyph } from "./glyphs";
import { type Layout, NODE, nextTo, shapeOf, type Way } from "./shape";
import { counted, type Standing, standingOf } from "./standing";
import { useLayout } from "./use-layout";

type Given = {
  name: string;
  tasks: readonly WorkflowTask[];
  /** The role of the agent that does a task, where one does. */
  roleOf: (task: WorkflowTask) => string | undefined;
  chosen: string | undefined;
  onChoose: (task: string) => void;
};

const WAYS: Record<string, Way> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };

const EMPTY: Layout = { nodes: [], lines: [], width: 0, height: 0 };

const LEAST = 0.4;
/** Smaller it can't be read, so that it scrolls instead. */
const READABLE = 0.75;
const MOST = 1.6;
const STEP = 1.25;

export function Graph({ name, tasks, roleOf, chosen, onChoose }: Given) {
  const words = useWords();
  const layout = useLayout(shapeOf(tasks));
  const drawn = layout ?? EMPTY;
  const box = useRef<HTMLElement>(null);
  const [scale, setScale] = useState(1);
  const [only, setOnly] = useState<Standing>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const now = useNow(tasks.some(({ state }) => state === "running"));

  const fit = () => {
    const { clientWidth = 0, clientHeight = 0 } = box.current ?? {};
    if (clientWidth === 0 || drawn.width === 0) return;
    setScale(Math.max(READABLE, Math.min(1, clientWidth / drawn.width, clientHeight / drawn.height)));
  };
  useEffect(fit, [drawn]);
  const zoom = (by: number) => setScale((before) => Math.min(MOST, Math.max(LEAST, before * by)));
  useKeys({ fit });

  const move = (event: KeyboardEvent) => {
    const way = WAYS[event.key];
    const id = event.target instanceof HTMLElement ? event.target.dataset.task : undefined;
    if (way === undefined || id === undefined) return;
    event.preventDefault();
    const next = nextTo(drawn, id, way);
    if (next === undefined) return;
    const button = box.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(next)}"]`);
    button?.focus();
  };

  const dims = (id: string) => {
    const task = byId.get(id);
    return only !== undefined && task !== undefined && standingOf(task) !== only;
  };
  return (
    <div className="flow">
      <section className="graph" ref={box} aria-label={words.flow.graphLabel(name)} onKeyDown={move}>
        {layout === undefined && <Skeleton />}
        {layout === null && <p className="said-of">{words.flow.noGraph}</p>}
        {layout != null && (
          <div className="sheet" style={{ width: drawn.width * scale, height: drawn.height * scale }}>
            <div className="drawn" style={{ width: drawn.width, height: drawn.height, transform: `scale(${scale})` }}>
              <svg className="edges" aria-hidden="true" width={drawn.width} height={drawn.height}>
                <defs>
                  <marker
                    id="flow-tip"
                    viewBox="0 0 6 6"
                    refX="5"
                    refY="3"
                    markerWidth="6"
                    markerHeight="6"
                    orient="auto"
                  >
                    <path d="M0 .5 5 3 0 5.5" fill="none" stroke="context-stroke" />
                  </marker>
                </defs>
                {drawn.lines.map(({ from, to, path }) => (
                  <path
                    key={`${from} ${to}`}
                    d={path}
                    className={lineOf(byId.get(from), byId.get(to))}
                    markerEnd="url(#flow-tip)"
                  />
                ))}
              </svg>
              {drawn.nodes.map(({ id, x, y }) => {
                const task = byId.get(id);
                return (
                  task && (
                    <button
                      key={id}
                      type="button"
                      data-task={id}
                      className={`nodebox ${standingOf(task)}${id === chosen ? " sel" : ""}${dims(id) ? " dims" : ""}`}
                      style={{ left: x, top: y, width: NODE.width, height: NODE.height }}
                      aria-pressed={id === chosen}
                      title={task.error ?? id}
                      onClick={() => onChoose(id)}
                    >
                      <span className="head">
                        <TaskGlyph state={task.state} />
                        <b className="cut">{id}</b>
                      </span>
                      <small>
                        <span className="cut">{roleOf(task) ?? words.flow.kind[task.kind]}</span>
                        <span className="grow" />
                        <Figure task={task} now={now} />
                      </small>
                    </button>
                  )
                );
              })}
            </div>
          </div>
        )}
      </section>
      <div className="keys-line">
        <Filter tasks={tasks} only={only} onOnly={setOnly} />
        <span className="grow" />
        <button type="button" className="btn small icon" aria-label={words.flow.zoomOut} onClick={() => zoom(1 / STEP)}>
          −
        </button>
        <button type="button" className="btn small icon" aria-label={words.flow.zoomIn} onClick={() => zoom(STEP)}>
          <Icon name="plus" small />
        </button>
        <button type="button" className="btn small" onClick={fit}>
          {words.flow.fit} <Key of="fit" />
        </button>
      </div>
    </div>
  );
}

/** The tasks have no places yet. */
const Skeleton = () => (
  <div className="skeleton" aria-hidden="true">
    {[0, 1, 2, 3, 4, 5].map((at) => (
      <i key={at} />
    ))}
  </div>
);

function lineOf(from: WorkflowTask | undefined, to: WorkflowTask | undefined): string {
  if (to?.state === "running" && from?.state === "completed") return "lit";
  return to?.state === "skipped" || to?.state === "cancelled" ? "off" : "";
}

/** What is most worth knowing of a task: how long it runs or ran, how often it was tried, what it waits for. */
function Figure({ task, now }: { task: WorkflowTask; now: number }) {
  const words = useWords();
  const format = useFormat();
  const { started, ended, attempts, needs, state } = task;
  const tried = (attempts ?? 0) > 1 ? words.flow.try(attempts ?? 0) : "";
  if (started != null && state === "running") {
    return <span className="num live">{tried || format.ticking(now - Date.parse(started))}</span>;
  }
  if (started != null && ended != null) {
    const took = format.duration(Date.parse(ended) - Date.parse(started));
    return <span className="num">{[tried, took].filter(Boolean).join(" · ")}</span>;
  }
  const count = needs?.length ?? 0;
  return count > 0 && standingOf(task) === "waits" ? <span className="num">{words.flow.needs(count)}</span> : null;
}

type FilterGiven = {
  tasks: readonly WorkflowTask[];
  only: Standing | undefined;
  onOnly: (standing: Standing | undefined) => void;
};

/** How many tasks stand how; pressed, only those are seen. */
export function Filter({ tasks, only, onOnly }: FilterGiven) {
  const words = useWords();
  return (
    <fieldset className="filter">
      <legend className="hidden-label">{words.flow.filter}</legend>
      {counted(tasks).map(([standing, count]) => {
        const one = tasks.find((task) => standingOf(task) === standing);
        return (
          <button
            key={standing}
            type="button"
            className="chip"
            aria-pressed={only === standing}
            onClick={() => onOnly(only === standing ? undefined : standing)}
          >
            {one !== undefined && <TaskGlyph state={one.state} isMute />}
            {words.flow.standing[standing]} <span className="num">{count}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
