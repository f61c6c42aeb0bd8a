//! The workflows of a session, task by task.

import type { Payload, WorkflowTask } from "../proto";
import type { WorkflowStep } from "./block";
import { touch, type View } from "./view";

/** Takes an update in: what is to be seen of it, which is the whole graph when it is new. */
export function updateWorkflow(view: View, update: Payload<"workflow_update">): WorkflowStep | undefined {
  touch(view, "workflows");
  const { workflow_id, name, state, strategy, tasks, definition, inputs } = update;
  let graph = view.workflows.find((known) => known.workflow_id === workflow_id);
  if (graph === undefined) {
    graph = { workflow_id, name, state, strategy, tasks: [], ...(inputs !== undefined && { inputs }) };
    view.workflows.push(graph);
  }
  const ended = graph.state === "running" && state !== "running";
  graph.state = state;
  const known = graph.tasks;
  const moved = tasks.filter((task) => take(known, task)).map((task) => task.id);
  const began = definition !== undefined;
  if (!began && moved.length === 0 && state === "running") return undefined;
  return { workflow_id, name, state, began, tasks, moved, ...(ended && { ended }) };
}

/** Whether a task is new, stands otherwise or is tried again. */
function take(tasks: WorkflowTask[], task: WorkflowTask): boolean {
  const at = tasks.findIndex((known) => known.id === task.id);
  const known = tasks[at];
  if (known === undefined) {
    tasks.push(task);
    return true;
  }
  tasks[at] = task;
  return known.state !== task.state || (known.attempts ?? 0) !== (task.attempts ?? 0);
}
