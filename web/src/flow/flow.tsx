//! A run of a workflow: what it is called, how it stands, and its tasks as a graph or as a list.

import { type ReactNode, useState } from "react";
import { Seg, useNow } from "../parts";
import type { WorkflowGraph, WorkflowTask } from "../proto";
import { useFormat, useWords } from "../words";
import { RunGlyph } from "./glyphs";
import { Graph } from "./graph";
import { TaskList } from "./list";
import { isOver, timesOf } from "./standing";

/** From how many tasks on the list comes first. */
const MANY = 300;

type Given = {
  graph: WorkflowGraph;
  roleOf: (task: WorkflowTask) => string | undefined;
  chosen: string | undefined;
  onChoose: (task: string) => void;
  /** What stands in place of its name: a choice where there are several. */
  title?: ReactNode;
  /** What can be done with it. */
  children?: ReactNode;
};

export function Flow({ graph, roleOf, chosen, onChoose, title, children }: Given) {
  const words = useWords();
  const format = useFormat();
  const [choice, setChoice] = useState<"graph" | "list">();
  const { name, state, strategy, tasks } = graph;
  const isNarrow = useIsNarrow();
  const shown = choice ?? (tasks.length > MANY || isNarrow ? "list" : "graph");
  const { from_ms, to_ms } = timesOf(graph);
  const now = useNow(state === "running");
  const running = tasks.filter((task) => task.state === "running").length;
  const facts = [
    words.flow.over(tasks.filter(isOver).length, tasks.length),
    running > 0 ? words.flow.running(running) : "",
    from_ms === undefined
      ? ""
      : format.duration(Math.max(1000, (state === "running" ? now : (to_ms ?? now)) - from_ms)),
  ];
  const given = { name, tasks, roleOf, chosen, onChoose };
  return (
    <section className="flow-part" aria-label={name}>
      <div className="sub">
        {title ?? <h2>{name}</h2>}
        <span className={state === "running" ? "chip live" : "chip"}>
          <RunGlyph state={state} isMute />
          {words.block.workflowState[state]}
        </span>
        <span className="chip wide">{words.flow.strategy(strategy)}</span>
        <span className="dim num small cut">{facts.filter(Boolean).join(" · ")}</span>
        <span className="grow" />
        <Seg
          label={words.flow.show}
          value={shown}
          options={[
            { value: "graph", label: words.flow.graph },
            { value: "list", label: words.flow.list },
          ]}
          onPick={setChoice}
        />
        {children}
      </div>
      {shown === "graph" ? <Graph {...given} /> : <TaskList {...given} />}
    </section>
  );
}

/** Whether there is room for a list alone; asked once, as nothing moves under a reader. */
function useIsNarrow(): boolean {
  const [isNarrow] = useState(() => matchMedia("(max-width: 640px)").matches);
  return isNarrow;
}
