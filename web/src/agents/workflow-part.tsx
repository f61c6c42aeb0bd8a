//! The workflows of a session below its agents: one at a time, the last one first.

import { useState } from "react";
import { useLocation } from "wouter";
import { Flow, shownRunOf, TaskCard } from "../flow";
import { Pick, SureButton } from "../parts";
import type { WorkflowGraph, WorkflowOrder, WorkflowTask } from "../proto";
import { useIsLive, useSession, useSlices } from "../wire";
import { useWords } from "../words";

type Given = { task: string | undefined; onTask: (task: string | undefined) => void; base: string };

export function WorkflowPart({ task, onTask, base }: Given) {
  const words = useWords();
  const view = useSlices("workflows", "agents");
  const [, go] = useLocation();
  const [picked, setPicked] = useState<string>();
  const runs = view.workflows;
  const graph = runs.find(({ workflow_id }) => workflow_id === picked) ?? shownRunOf(runs);
  if (graph === undefined) return null;
  const agentOf = ({ agent_id }: WorkflowTask) => view.agents.find(({ node }) => node.id === agent_id)?.node;
  const roleOf = (of: WorkflowTask) => (of.kind === "agent" ? agentOf(of)?.role : undefined);
  const chosen = graph.tasks.find(({ id }) => id === task);
  const agent = chosen?.kind === "agent" ? agentOf(chosen) : undefined;
  const toAgent = (name: string) => go(`${base}/${encodeURIComponent(name)}`);
  return (
    <>
      <Flow
        key={graph.workflow_id}
        graph={graph}
        roleOf={roleOf}
        chosen={chosen?.id}
        onChoose={(id) => onTask(id === task ? undefined : id)}
        title={
          runs.length > 1 ? (
            <Pick
              label={words.flow.pickRun}
              value={graph.workflow_id}
              options={runs.map((run) => ({ value: run.workflow_id, label: labelOf(run, runs) }))}
              onPick={(id) => {
                setPicked(id);
                onTask(undefined);
              }}
            >
              <b>{labelOf(graph, runs)}</b>
            </Pick>
          ) : undefined
        }
      >
        <RunActs graph={graph} />
      </Flow>
      {chosen !== undefined && (
        <div className="task-over">
          <TaskCard task={chosen} by={roleOf(chosen)} onClose={() => onTask(undefined)}>
            {agent !== undefined && (
              <button type="button" className="btn small" onClick={() => toAgent(agent.name)}>
                {words.flow.toAgent(agent.name)}
              </button>
            )}
          </TaskCard>
        </div>
      )}
    </>
  );
}

/** A run's name, with its number where there are several of that name. */
function labelOf(graph: WorkflowGraph, runs: readonly WorkflowGraph[]): string {
  const same = runs.filter(({ name }) => name === graph.name);
  return same.length < 2 ? graph.name : `${graph.name} ${same.indexOf(graph) + 1}`;
}

function RunActs({ graph }: { graph: WorkflowGraph }) {
  const words = useWords();
  const session = useSession();
  const isOnline = useIsLive();
  const [trouble, setTrouble] = useState<string>();
  const order = (order: WorkflowOrder) => {
    setTrouble(undefined);
    session
      .send({ type: "workflow_command", workflow_id: graph.workflow_id, order })
      .catch((problem: unknown) => setTrouble(problem instanceof Error ? problem.message : String(problem)));
  };
  const canCancel = graph.state === "running" || graph.state === "interrupted";
  const canResume = graph.state === "interrupted" || graph.state === "partly" || graph.state === "failed";
  return (
    <>
      {canResume && (
        <button type="button" className="btn small" disabled={!isOnline} onClick={() => order("resume")}>
          {words.flow.resumeRun}
        </button>
      )}
      {canCancel && (
        <SureButton
          className="btn small"
          label={words.flow.cancelRun}
          sure={words.flow.cancelSure}
          disabled={!isOnline}
          onSure={() => order("cancel")}
        />
      )}
      {trouble !== undefined && (
        <span className="del small" role="alert">
          {words.tree.trouble(trouble)}
        </span>
      )}
    </>
  );
}
