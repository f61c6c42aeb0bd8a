//! How tasks and runs of a workflow stand, as glyphs and as ticks.

import { Glyph, type Shape, type Tone } from "../parts";
import type { TaskState, WorkflowState } from "../proto";
import { useWords } from "../words";
import type { Step } from "./standing";

const LOOKS: Record<TaskState, { shape: Shape; tone: Tone }> = {
  pending: { shape: "wait", tone: "wait" },
  ready: { shape: "wait", tone: "wait" },
  running: { shape: "run", tone: "run" },
  completed: { shape: "done", tone: "done" },
  failed: { shape: "fail", tone: "fail" },
  cancelled: { shape: "off", tone: "off" },
  skipped: { shape: "off", tone: "off" },
};

export function TaskGlyph({ state, isMute }: { state: TaskState; isMute?: boolean }) {
  const words = useWords();
  return isMute ? <Glyph {...LOOKS[state]} /> : <Glyph {...LOOKS[state]} label={words.flow.taskState[state]} />;
}

const RUNS: Record<WorkflowState, { shape: Shape; tone: Tone }> = {
  running: { shape: "run", tone: "run" },
  interrupted: { shape: "pause", tone: "off" },
  completed: { shape: "done", tone: "done" },
  partly: { shape: "fail", tone: "fail" },
  failed: { shape: "fail", tone: "fail" },
  cancelled: { shape: "off", tone: "off" },
};

export function RunGlyph({ state, isMute }: { state: WorkflowState; isMute?: boolean }) {
  const words = useWords();
  return isMute ? <Glyph {...RUNS[state]} /> : <Glyph {...RUNS[state]} label={words.block.workflowState[state]} />;
}

/** Steps of work as ticks, and how many are done. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  const words = useWords();
  if (steps.length === 0) return null;
  const done = steps.filter((step) => step === "on" || step === "bad").length;
  const drawn = steps.length > MOST ? gathered(steps) : steps;
  return (
    <span className="prog">
      <span className="steps" aria-hidden="true">
        {drawn.map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
          <i key={at} className={step} />
        ))}
      </span>
      {words.block.todoDone(done, steps.length)}
    </span>
  );
}

/** Steps that are drawn one by one. */
const MOST = 12;

/** Many steps as few: each tick is what most needs a look among those that it stands for. */
function gathered(steps: readonly Step[]): Step[] {
  const order: Step[] = ["ask", "bad", "now", "", "on"];
  return Array.from({ length: MOST }, (_, at) => {
    const some = steps.slice(Math.floor((at * steps.length) / MOST), Math.floor(((at + 1) * steps.length) / MOST));
    return order.find((step) => some.includes(step)) ?? "";
  });
}
