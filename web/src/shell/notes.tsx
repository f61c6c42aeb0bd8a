//! What is to be said of a command of the person's own besides what it printed.

import type { ShellLine } from "../wire";
import { useWords } from "../words";

export function ShellNotes({ line: { end } }: { line: ShellLine }) {
  const words = useWords().shell;
  if (end === undefined) return null;
  return (
    <>
      {end.kind === "failed" && (
        <>
          <p className="trouble" role="alert">
            {words.failed(end.why)}
          </p>
          {end.hint !== undefined && <p className="shell-note">{end.hint}</p>}
        </>
      )}
      {end.folder !== undefined && <p className="shell-note">{words.moved(end.folder)}</p>}
      {end.masked && <p className="shell-note">{words.masked}</p>}
    </>
  );
}
