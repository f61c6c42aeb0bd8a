//! The command that the person ran last, above the field: the end of what it prints, until the agent is told of it.

import { useMemo, useState } from "react";
import { Link } from "wouter";
import { cleanLine } from "../fold";
import { Icon } from "../parts";
import { EndGlyph, endWords, ShellNotes } from "../shell";
import { Coloured, sgr } from "../text";
import { type ShellLine, useSession, useShell } from "../wire";
import { useFormat, useWords } from "../words";

/** Lines that are shown of what it printed. */
const LINES = 6;

/** Characters that are shown at most, however long its lines are. */
const MOST = 4_000;

export function OwnRun() {
  const { lines } = useShell();
  const [gone, setGone] = useState<string>();
  const line = lines.at(-1);
  if (line === undefined || line.isTold || line.key === gone) return null;
  return <Shown line={line} onGone={() => setGone(line.key)} />;
}

function Shown({ line, onGone }: { line: ShellLine; onGone: () => void }) {
  const words = useWords();
  const format = useFormat();
  const { id } = useSession();
  const shell = useShell();
  const { text, parts } = useMemo(() => sgr(endOf(line.printed)), [line.printed]);
  const { end } = line;
  const ends = end ?? { kind: "running" as const };
  const how = [endWords(ends, words), end?.took_ms === undefined ? "" : format.duration(end.took_ms)];
  const name = cleanLine(line.command);
  return (
    <section className="own-run" aria-label={words.shell.ran(name)}>
      <header>
        <EndGlyph ends={ends} />
        <code className="mono cut" title={line.command}>
          {name}
        </code>
        <span className="dim small num" role="status">
          {how.filter(Boolean).join(" · ")}
        </span>
        <span className="grow" />
        <Link href={`/s/${id}/terminal/${line.key}`} className="btn small ghost">
          {words.shell.whole}
        </Link>
        {end === undefined ? (
          <button type="button" className="btn small" onClick={() => shell.stop()}>
            <Icon name="stop" small />
            {words.shell.stop} <kbd>Esc</kbd>
          </button>
        ) : (
          <button type="button" className="btn icon ghost small" aria-label={words.shell.putAway} onClick={onGone}>
            <Icon name="cross" small />
          </button>
        )}
      </header>
      {text.trim() !== "" && (
        <pre className="out">
          <Coloured text={text} parts={parts} from={0} to={text.length} />
        </pre>
      )}
      <ShellNotes line={line} />
      {end !== undefined && end.kind !== "failed" && <p className="shell-note">{words.shell.isTold}</p>}
    </section>
  );
}

function endOf(printed: string): string {
  return printed.slice(-MOST).trimEnd().split("\n").slice(-LINES).join("\n");
}
