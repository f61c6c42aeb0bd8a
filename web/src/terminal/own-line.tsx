//! The line for a command of the person's own: Enter runs it, ↑ and ↓ bring back those before.

import { useState } from "react";
import { useLocation } from "wouter";
import { Icon } from "../parts";
import { commandsOf, earlier, later, type Recalled, useShellOff } from "../shell";
import { useShell } from "../wire";
import { useWords } from "../words";

export function OwnLine({ home }: { home: string }) {
  const words = useWords();
  const shell = useShell();
  const off = useShellOff();
  const [, go] = useLocation();
  const [text, setText] = useState("");
  const [recalled, setRecalled] = useState<Recalled>();
  const runs = shell.running !== undefined;

  const run = () => {
    const command = text.trim();
    const key = command === "" || off !== undefined ? undefined : shell.run(command);
    if (key === undefined) return;
    setText("");
    setRecalled(undefined);
    go(`${home}/${key}`);
  };
  const recall = (found: { text: string; recalled: Recalled | undefined } | undefined) => {
    if (found === undefined) return;
    setText(found.text);
    setRecalled(found.recalled);
  };
  const commands = commandsOf(shell.lines);
  const pressed = (key: string): boolean => {
    if (key === "Enter") run();
    else if (key === "ArrowUp") recall(earlier(commands, recalled, text));
    else if (key === "ArrowDown") recall(later(commands, recalled));
    else return false;
    return true;
  };

  return (
    <section className="own-line" aria-label={words.shell.label}>
      {off !== undefined && (
        <p id="own-line-off" className="dim small">
          {off}
        </p>
      )}
      <div className="own-field">
        <span className="bang mono" aria-hidden="true">
          !
        </span>
        <input
          type="text"
          className="mono"
          aria-label={words.shell.label}
          aria-describedby={off === undefined ? undefined : "own-line-off"}
          placeholder={runs ? words.shell.runs : words.shell.placeholder}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          enterKeyHint="send"
          disabled={off !== undefined}
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setRecalled(undefined);
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing || event.keyCode === 229) return;
            if (pressed(event.key)) event.preventDefault();
          }}
        />
        {runs ? (
          <button type="button" className="btn small" onClick={() => shell.stop()}>
            <Icon name="stop" small />
            {words.shell.stop} <kbd>Esc</kbd>
          </button>
        ) : (
          <button type="button" className="btn small" disabled={off !== undefined || text.trim() === ""} onClick={run}>
            {words.shell.run} <kbd>⏎</kbd>
          </button>
        )}
      </div>
    </section>
  );
}
