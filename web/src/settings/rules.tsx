//! Rules: what is allowed, asked and refused, who said so, and what would happen to a call.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Glyph, Icon } from "../parts";
import type { ExplainedCall, RuleRow } from "../proto";
import { rules } from "../wire";
import { useWords } from "../words";
import { Asked, Trouble, useActs, Warnings } from "./acts";
import { useUnsaved } from "./unsaved";

export function Rules() {
  return (
    <>
      <Kept />
      <Explain />
      <InForce />
    </>
  );
}

/** Rules that a person said "always" to, or wrote. */
function Kept() {
  const words = useWords().settings.rules;
  const { folder } = useUnsaved();
  const acts = useActs();
  const [text, setText] = useState("");
  const query = useQuery({ queryKey: ["rules.kept"], queryFn: rules.kept });
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === "") return;
    const added = await acts.run("add", () => rules.add(folder, text.trim()));
    if (added !== undefined) setText("");
  };
  return (
    <section className="block-of">
      <h2>{words.kept}</h2>
      <p className="lead">{words.keptLead}</p>
      <Asked query={query}>
        {({ rules: kept, file }) => (
          <>
            <ul className="set-lines">
              {kept.map(({ text, title }) => (
                <li key={text} className="line-of">
                  <Icon name="box" small />
                  <code className="who cut" title={text}>
                    {title}
                  </code>
                  <button
                    type="button"
                    className="btn small ghost icon"
                    aria-label={words.remove(title)}
                    title={words.remove(title)}
                    disabled={acts.busy !== undefined}
                    onClick={() => void acts.run("remove", () => rules.remove(text))}
                  >
                    <Icon name="cross" small />
                  </button>
                </li>
              ))}
            </ul>
            {kept.length === 0 && <p className="dim">{words.noneKept}</p>}
            <form className="acts add" onSubmit={(event) => void add(event)}>
              <input
                className="field mono grow"
                type="text"
                aria-label={words.newRule}
                placeholder="allow bash(cargo test *)"
                spellCheck={false}
                value={text}
                onChange={({ target }) => setText(target.value)}
              />
              <button type="submit" className="btn" disabled={text.trim() === "" || acts.busy !== undefined}>
                {words.add}
              </button>
            </form>
            <Trouble problem={acts.problem} />
            <p className="dim small">{words.keptIn(file)}</p>
          </>
        )}
      </Asked>
    </section>
  );
}

/** What would happen to a call, and why. */
function Explain() {
  const words = useWords().settings.rules;
  const { folder } = useUnsaved();
  const acts = useActs();
  const [tool, setTool] = useState("bash");
  const [args, setArgs] = useState("");
  const [told, setTold] = useState<ExplainedCall>();
  const ask = async (event: FormEvent) => {
    event.preventDefault();
    setTold(await acts.run("explain", () => rules.explain(folder, tool.trim(), args)));
  };
  return (
    <section className="block-of">
      <h2>{words.explain}</h2>
      <p className="lead">{words.explainLead}</p>
      <form className="acts add" onSubmit={(event) => void ask(event)}>
        <input
          className="field mono tool"
          type="text"
          aria-label={words.tool}
          spellCheck={false}
          value={tool}
          onChange={({ target }) => setTool(target.value)}
        />
        <input
          className="field mono grow"
          type="text"
          aria-label={words.call}
          placeholder="git push --force"
          spellCheck={false}
          value={args}
          onChange={({ target }) => setArgs(target.value)}
        />
        <button type="submit" className="btn" disabled={tool.trim() === "" || acts.busy !== undefined}>
          {words.ask}
        </button>
      </form>
      <Trouble problem={acts.problem} />
      {told !== undefined && (
        <div className="told" role="status">
          <p>
            <Ruling of={told.decision} /> <span className={`risk ${told.risk}`}>{words.risk(told.risk)}</span>
          </p>
          <p className="mid" lang="en">
            {told.reason}
          </p>
          <p className="dim small">
            {told.rule && <code>{told.rule}</code>} {words.sources[told.source] ?? told.source} {told.place}
          </p>
          {told.notes.map((note) => (
            <p key={note} className="dim small" lang="en">
              {note}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}

const SHAPES = {
  allow: { shape: "done", tone: "good" },
  ask: { shape: "pause", tone: "wait" },
  deny: { shape: "no", tone: "fail" },
} as const;

function Ruling({ of }: { of: RuleRow["decision"] }) {
  const words = useWords().settings.rules;
  return (
    <span className="ruling">
      <Glyph {...SHAPES[of]} />
      {words.decisions[of]}
    </span>
  );
}

/** All rules in force, in the order in which they are looked at. */
function InForce() {
  const words = useWords().settings.rules;
  const { folder } = useUnsaved();
  const [letters, setLetters] = useState("");
  const query = useQuery({ queryKey: ["rules", folder], queryFn: () => rules.list(folder) });
  return (
    <section className="block-of">
      <h2>{words.inForce}</h2>
      <p className="lead">{words.inForceLead}</p>
      <Asked query={query}>
        {({ rules: all, untrusted, warnings }) => {
          const fits = ({ about, name, reason }: RuleRow) =>
            `${about} ${name ?? ""} ${reason ?? ""}`.toLowerCase().includes(letters.trim().toLowerCase());
          const shown = all.filter(fits);
          return (
            <>
              <input
                className="field narrow-down"
                type="search"
                aria-label={words.find}
                placeholder={words.find}
                value={letters}
                onChange={({ target }) => setLetters(target.value)}
              />
              <ul className="set-lines">
                {shown.map((rule) => (
                  <li
                    key={`${rule.source} ${rule.place} ${rule.about} ${rule.decision} ${rule.priority}`}
                    className="line-of"
                  >
                    <Ruling of={rule.decision} />
                    <span className="who">
                      <code>{rule.about}</code>
                      <small lang="en">{[rule.name, rule.reason].filter(Boolean).join(": ")}</small>
                    </span>
                    <span className="dim small cut" title={rule.place}>
                      {words.sources[rule.source] ?? rule.source}
                    </span>
                  </li>
                ))}
              </ul>
              {untrusted.length > 0 && <p className="dim small">{words.untrusted(untrusted.join(", "))}</p>}
              <Warnings of={warnings} />
            </>
          );
        }}
      </Asked>
    </section>
  );
}
