//! Workflows and the runs of them, as they are asked of the program.

import type {
  CancelledWorkflow,
  Command,
  SessionSnapshot,
  ShownRun,
  ShownWorkflow,
  WorkflowList,
  WorkflowOrder,
} from "../proto";
import { get, onceKey, request } from "./http";
import { makeSession, type NewSession } from "./open";

/** The workflows for work in a folder, and the runs of all folders. */
export const workflows = (folder: string, limit = 40) => get<WorkflowList>("/workflows", { folder, all: true, limit });

export const workflow = (folder: string, name: string) =>
  get<ShownWorkflow>(`/workflows/${encodeURIComponent(name)}`, { folder });

export const workflowRun = (run: string) => get<ShownRun>(`/workflow-runs/${encodeURIComponent(run)}`);

/** Ends a run for good, with everything it started. */
export const cancelRun = (run: string) =>
  request<CancelledWorkflow>("DELETE", `/workflow-runs/${encodeURIComponent(run)}`, undefined, onceKey());

/** Hands a command to a session that nobody here follows. */
export const command = (session: string, given: Command) =>
  request("POST", `/sessions/${session}/commands`, given, onceKey());

/** Goes on with a run after an interruption. */
export const orderRun = (session: string, workflow_id: string, order: WorkflowOrder) =>
  command(session, { type: "workflow_command", workflow_id, order });

/** Runs a workflow in a session of its own, which has its name; gives the session. */
export async function runWorkflow(wanted: NewSession, shown: ShownWorkflow, inputs: object): Promise<string> {
  const { id } = await makeSession(wanted);
  await command(id, { type: "rename", title: shown.name });
  await command(id, { type: "run_workflow", definition: shown.definition, inputs });
  return id;
}

/** How a session stands that nobody here follows. */
export const snapshot = (session: string) => get<SessionSnapshot>(`/sessions/${session}`);
