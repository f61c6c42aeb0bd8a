//! What is remembered from one session to the next: looked for, read, added to, forgotten.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Icon } from "../parts";
import type { MemoryEntry } from "../proto";
import { memory } from "../wire";
import { useFormat, useWords } from "../words";
import { type Acts, Asked, Trouble, useActs, Warnings } from "./acts";
import { Sure } from "./sure";
import { useUnsaved } from "./unsaved";

export function Memory() {
  const words = useWords().settings.memory;
  const { folder } = useUnsaved();
  const acts = useActs();
  const [letters, setLetters] = useState("");
  const [note, setNote] = useState("");
  const sought = letters.trim();
  const query = useQuery({
    queryKey: ["memory", folder, sought],
    queryFn: () => memory.list(folder, sought),
    placeholderData: keepPreviousData,
  });
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (note.trim() === "") return;
    const kept = await acts.run("add", () => memory.note(folder, note.trim()));
    if (kept !== undefined) setNote("");
  };
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <input
        className="field narrow-down"
        type="search"
        aria-label={words.find}
        placeholder={words.find}
        value={letters}
        onChange={({ target }) => setLetters(target.value)}
      />
      <Asked query={query}>
        {({ entries, next }) => (
          <>
            <ul className="set-lines">
              {entries.map((entry) => (
                <Entry key={entry.id} entry={entry} acts={acts} />
              ))}
            </ul>
            {entries.length === 0 && <p className="dim">{sought === "" ? words.none : words.nothingFits}</p>}
            {next !== undefined && <p className="dim small">{words.more}</p>}
          </>
        )}
      </Asked>
      <form className="acts add" onSubmit={(event) => void add(event)}>
        <input
          className="field grow"
          type="text"
          aria-label={words.newNote}
          placeholder={words.newNote}
          value={note}
          onChange={({ target }) => setNote(target.value)}
        />
        <button type="submit" className="btn" disabled={note.trim() === "" || acts.busy !== undefined}>
          {words.add}
        </button>
      </form>
      <Trouble problem={acts.problem} />
    </section>
  );
}

function Entry({ entry, acts }: { entry: MemoryEntry; acts: Acts }) {
  const words = useWords().settings.memory;
  const format = useFormat();
  const { folder } = useUnsaved();
  const [isOpen, setOpen] = useState(false);
  const { id, title, summary, scope, directory, created, path, troubles } = entry;
  const reaches: Record<string, string> = words.reaches;
  return (
    <li className="line-of">
      <Icon name="mind" small />
      <button type="button" className="who opens" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <b>{title}</b>
        <small>{summary}</small>
      </button>
      <span className="dim small cut" title={directory ?? ""}>
        {reaches[scope] ?? scope}
        {created !== undefined && created !== null && ` · ${format.date(Date.parse(created))}`}
      </span>
      <Sure
        label={words.forget}
        name={title}
        isOff={acts.busy !== undefined}
        onSure={() => acts.run(`forget ${id}`, () => memory.remove(folder, id))}
      />
      {isOpen && <Content id={id} path={path} />}
      <Warnings of={troubles} />
    </li>
  );
}

function Content({ id, path }: { id: string; path: string }) {
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["memory.show", folder, id], queryFn: () => memory.show(folder, id) });
  return (
    <div className="whole">
      <p className="mono dim">{path}</p>
      <Asked query={query}>
        {({ content, unreadable }) => <pre className="out well wraps">{unreadable ?? content}</pre>}
      </Asked>
    </div>
  );
}
