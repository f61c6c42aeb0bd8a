//! A workflow in words: a row a task, in the order in which they are written.

import { useState } from "react";
import { useNow } from "../parts";
import type { WorkflowTask } from "../proto";
import { useFormat, useWords } from "../words";
import { TaskGlyph } from "./glyphs";
import { Filter } from "./graph";
import { type Standing, standingOf } from "./standing";

type Given = {
  name: string;
  tasks: readonly WorkflowTask[];
  roleOf: (task: WorkflowTask) => string | undefined;
  chosen: string | undefined;
  onChoose: (task: string) => void;
};

export function TaskList({ name, tasks, roleOf, chosen, onChoose }: Given) {
  const words = useWords();
  const [only, setOnly] = useState<Standing>();
  const shown = tasks.filter((task) => only === undefined || standingOf(task) === only);
  const now = useNow(tasks.some(({ state }) => state === "running"));
  return (
    <div className="flow">
      <div className="tasklist">
        <table aria-label={words.flow.listLabel(name)}>
          <thead>
            <tr>
              <th scope="col">{words.flow.task}</th>
              <th scope="col">{words.flow.does}</th>
              <th scope="col" className="wide">
                {words.flow.after}
              </th>
              <th scope="col">{words.flow.state}</th>
              <th scope="col" className="r">
                {words.flow.took}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((task) => (
              <tr key={task.id} className={task.id === chosen ? "sel" : ""}>
                <th scope="row">
                  <button type="button" aria-pressed={task.id === chosen} onClick={() => onChoose(task.id)}>
                    <TaskGlyph state={task.state} isMute />
                    <span className="mono cut">{task.id}</span>
                  </button>
                </th>
                <td>{roleOf(task) ?? words.flow.kind[task.kind]}</td>
                <td className="mono dim wide">{(task.needs ?? []).join(" ")}</td>
                <td>
                  {words.flow.taskState[task.state]}
                  {(task.attempts ?? 0) > 1 && <span className="dim"> · {words.flow.try(task.attempts ?? 0)}</span>}
                  {task.error != null && <small className="del">{task.error}</small>}
                </td>
                <td className="r num">
                  <Took task={task} now={now} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className="dim pad">{words.flow.none}</p>}
      </div>
      <div className="keys-line">
        <Filter tasks={tasks} only={only} onOnly={setOnly} />
      </div>
    </div>
  );
}

export function Took({ task: { started, ended, state }, now }: { task: WorkflowTask; now: number }) {
  const format = useFormat();
  if (started == null) return null;
  if (state === "running") return <span className="live">{format.ticking(now - Date.parse(started))}</span>;
  return ended == null ? null : format.duration(Date.parse(ended) - Date.parse(started));
}
