//! All that is known of one task of a workflow.

import type { ReactNode } from "react";
import { Icon, useNow } from "../parts";
import type { WorkflowTask } from "../proto";
import { useFormat, useWords } from "../words";
import { TaskGlyph } from "./glyphs";
import { Took } from "./list";

type Given = { task: WorkflowTask; by?: string | undefined; onClose: () => void; children?: ReactNode };

export function TaskCard({ task, by, onClose, children }: Given) {
  const words = useWords();
  const format = useFormat();
  const now = useNow(task.state === "running");
  const { id, kind, needs, started, attempts, error, output } = task;
  const text = typeof output === "string" ? output : JSON.stringify(output, undefined, 2);
  return (
    <section className="sect" aria-label={id}>
      <header>
        <TaskGlyph state={task.state} />
        <h2 className="mono cut">{id}</h2>
        <span className="chip">{by ?? words.flow.kind[kind]}</span>
        <span className="end">{words.flow.taskState[task.state]}</span>
        <button type="button" className="btn small icon ghost" aria-label={words.flow.closeTask} onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </header>
      <dl className="facts">
        {(needs?.length ?? 0) > 0 && (
          <>
            <dt>{words.flow.after}</dt>
            <dd className="mono">{needs?.join(" ")}</dd>
          </>
        )}
        {started != null && (
          <>
            <dt>{words.flow.started}</dt>
            <dd className="num">{format.seconds(Date.parse(started))}</dd>
            <dt>{words.flow.took}</dt>
            <dd className="num">
              <Took task={task} now={now} />
            </dd>
          </>
        )}
        {(attempts ?? 0) > 1 && (
          <>
            <dt>{words.flow.tries}</dt>
            <dd className="num">{attempts}</dd>
          </>
        )}
        {error != null && (
          <>
            <dt>{words.flow.why}</dt>
            <dd className="del-ink">{error}</dd>
          </>
        )}
      </dl>
      {text !== undefined && text !== "" && text !== "null" && (
        <>
          <h3 className="dim small">{words.flow.output}</h3>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
          <pre className="out well" tabIndex={0}>
            {text}
          </pre>
        </>
      )}
      {children}
    </section>
  );
}
