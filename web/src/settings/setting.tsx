//! One setting: what it means, what it takes, who decided it, and the control that sets it.

import { Icon } from "../parts";
import type { SettingRow } from "../proto";
import { useWords } from "../words";
import { ControlOf } from "./controls";
import { useCheck, useUnsaved } from "./unsaved";
import { controlOf } from "./value";

export function Setting({ row }: { row: SettingRow }) {
  const words = useWords().settings;
  const unsaved = useUnsaved();
  const { key, takes, meaning } = row;
  const control = controlOf(row);
  const isChanged = unsaved.changes.has(key);
  const change = unsaved.changes.get(key);
  const { problem } = useCheck(unsaved.folder, isChanged ? new Map([[key, change]]) : new Map());
  const value = unsaved.value(key);
  const layers: Record<string, string> = words.layers;
  return (
    <div className={isChanged ? "setting changed" : "setting"} id={key}>
      <div className="about-it">
        <h3 className="mono">{key}</h3>
        {meaning && (
          <p className="mid" lang="en">
            <Marked text={meaning} />
          </p>
        )}
        <p className="dim small">
          {takes && (
            <>
              <span lang="en">
                <Marked text={takes} />
              </span>{" "}
              ·{" "}
            </>
          )}
          <From row={row} />
        </p>
      </div>
      <div className="set-it">
        {control.kind === "file" ? (
          <code className="cut dim" title={row.value}>
            {row.value || words.inFile}
          </code>
        ) : (
          <ControlOf
            control={control}
            label={key}
            value={change === null ? undefined : value}
            isWrong={problem !== null}
            onValue={(value) => unsaved.set(key, value)}
          />
        )}
        {isChanged ? (
          <button
            type="button"
            className="btn small ghost icon"
            aria-label={words.undo(key)}
            title={words.undo(key)}
            onClick={() => unsaved.drop(key)}
          >
            <Icon name="undo" small />
          </button>
        ) : (
          row.layer === "user" &&
          control.kind !== "file" && (
            <button
              type="button"
              className="btn small ghost icon"
              aria-label={words.takeOut(key)}
              title={words.takeOut(key)}
              onClick={() => unsaved.set(key, null)}
            >
              <Icon name="cross" small />
            </button>
          )
        )}
      </div>
      {isChanged && change === null && <p className="note small dim">{words.isTakenOut}</p>}
      {problem !== null && (
        <p className="note small del" role="alert">
          {problem.message}
        </p>
      )}
      {isChanged && isOverruled(row.layer) && (
        <p className="note small dim">{words.overruled(layers[row.layer] ?? row.layer)}</p>
      )}
    </div>
  );
}

/** Whether a layer has the last word over the person's own file. */
const isOverruled = (layer: string) => !["", "built-in", "user"].includes(layer);

function From({ row: { layer, origins } }: { row: SettingRow }) {
  const words = useWords().settings;
  if (layer === "") return <span>{words.notSet}</span>;
  const names: Record<string, string> = words.layers;
  return (
    <span className={`from ${layer === "built-in" ? "" : "own"}`} title={origins.join("\n")}>
      {names[layer] ?? layer}
      {layer !== "built-in" && <code>{origins[0]}</code>}
    </span>
  );
}

/** Words of the program; names of values stand between backticks. */
function Marked({ text }: { text: string }) {
  return text.split("`").map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text is never another one in parts
      <code key={at}>{part}</code>
    ),
  );
}

/** Settings, one below the other. */
export function Settings({ rows, title }: { rows: readonly SettingRow[]; title?: string }) {
  if (rows.length === 0) return null;
  return (
    <section className="settings">
      {title !== undefined && <h2>{title}</h2>}
      {rows.map((row) => (
        <Setting key={row.key} row={row} />
      ))}
    </section>
  );
}
