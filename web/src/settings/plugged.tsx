//! Hooks, skills and plugins: what is plugged in, whose it is, and whether it is on.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph, Icon } from "../parts";
import type { PluginRow, SkillRow } from "../proto";
import { hooks, plugins, skills } from "../wire";
import { useWords } from "../words";
import { type Acts, Asked, Switch, Trouble, useActs, Warnings } from "./acts";
import { Sure } from "./sure";
import { useUnsaved } from "./unsaved";

export function Hooks() {
  const words = useWords().settings.hooks;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["hooks", folder], queryFn: () => hooks(folder) });
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <Asked query={query}>
        {({ hooks: all, note, problems }) => (
          <>
            <ul className="set-lines">
              {all.map(({ event, matcher, command, file }) => (
                <li key={`${event} ${matcher} ${command} ${file}`} className="line-of">
                  <Icon name="retry" small />
                  <span className="who">
                    <b className="mono">{event}</b>
                    <small>
                      <code>{command}</code>
                    </small>
                  </span>
                  <span className="dim small">{matcher}</span>
                  <span className="dim small cut" title={file}>
                    {file}
                  </span>
                </li>
              ))}
            </ul>
            {all.length === 0 && <p className="dim">{words.none}</p>}
            {note !== undefined && <p className="mid wraps">{note}</p>}
            <Warnings of={problems?.map(({ words }) => words)} />
          </>
        )}
      </Asked>
    </section>
  );
}

export function Skills() {
  const words = useWords().settings.skills;
  const { folder } = useUnsaved();
  const acts = useActs();
  const query = useQuery({ queryKey: ["skills", folder], queryFn: () => skills.list(folder) });
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <Trouble problem={acts.problem} />
      <Asked query={query}>
        {({ skills: all, broken, warnings }) => (
          <>
            <ul className="set-lines">
              {all.map((skill) => (
                <Skill key={skill.file} skill={skill} acts={acts} />
              ))}
            </ul>
            {all.length === 0 && <p className="dim">{words.none}</p>}
            <Warnings of={broken?.map(({ file, line, message }) => `${file}:${line}: ${message}`)} />
            <Warnings of={warnings} />
          </>
        )}
      </Asked>
    </section>
  );
}

function Skill({ skill, acts }: { skill: SkillRow; acts: Acts }) {
  const all = useWords().settings;
  const words = all.skills;
  const { folder } = useUnsaved();
  const [isOpen, setOpen] = useState(false);
  const { name, description, origin, off, trusted, shadowed_by, file } = skill;
  const origins: Record<string, string> = all.origins;
  return (
    <li className="line-of">
      <Icon name="note" small />
      <button type="button" className="who opens" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <b className="mono">{name}</b>
        <small lang="en">{description}</small>
      </button>
      <span className="dim small">
        {!trusted ? words.untrusted : shadowed_by !== undefined ? words.shadowed : (origins[origin] ?? origin)}
      </span>
      <Switch
        label={words.on(name)}
        isOn={off !== true}
        disabled={acts.busy !== undefined}
        onSwitch={(isOn) => void acts.run(`skill ${name}`, () => skills.enable(folder, name, isOn))}
      />
      {isOpen && <SkillText name={name} file={file} />}
    </li>
  );
}

function SkillText({ name, file }: { name: string; file: string }) {
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["skill", folder, name], queryFn: () => skills.show(folder, name) });
  return (
    <div className="whole">
      <p className="mono dim">{file}</p>
      <Asked query={query}>{({ text }) => <pre className="out well wraps">{text}</pre>}</Asked>
    </div>
  );
}

export function Plugins() {
  const words = useWords().settings.plugins;
  const { folder } = useUnsaved();
  const acts = useActs();
  const query = useQuery({ queryKey: ["plugins", folder], queryFn: () => plugins.list(folder) });
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <p className="lead">{words.lead}</p>
      <Trouble problem={acts.problem} />
      <Asked query={query}>
        {({ plugins: all, marketplaces, warnings }) => (
          <>
            <ul className="set-lines">
              {all.map((plugin) => (
                <Plugin key={plugin.name} plugin={plugin} acts={acts} />
              ))}
            </ul>
            {all.length === 0 && <p className="dim">{words.none}</p>}
            {marketplaces.length > 0 && (
              <>
                <h3>{words.lists}</h3>
                {marketplaces.map(({ name, source }) => (
                  <p key={name}>
                    <b className="mono">{name}</b> <span className="dim">{source}</span>
                  </p>
                ))}
              </>
            )}
            <Warnings of={warnings} />
          </>
        )}
      </Asked>
    </section>
  );
}

function Plugin({ plugin, acts }: { plugin: PluginRow; acts: Acts }) {
  const all = useWords().settings;
  const words = all.plugins;
  const { folder } = useUnsaved();
  const [isOpen, setOpen] = useState(false);
  const { name, description, version, source, enabled, active, off } = plugin;
  return (
    <li className="line-of">
      <Glyph shape={active ? "done" : "off"} tone={active ? "good" : "off"} label={active ? all.on : all.off} />
      <button type="button" className="who opens" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <b className="mono">{name}</b>
        <small lang="en">{description}</small>
      </button>
      <span className="dim small cut" title={source}>
        {version ?? source}
      </span>
      <Switch
        label={words.on(name)}
        isOn={enabled}
        disabled={acts.busy !== undefined}
        onSwitch={(isOn) => void acts.run(`plugin ${name}`, () => plugins.enable(folder, name, isOn))}
      />
      <Sure
        label={words.remove}
        name={name}
        isOff={acts.busy !== undefined}
        onSure={() => acts.run(`remove ${name}`, () => plugins.remove(name))}
      />
      {off !== undefined && <p className="whole small mid">{off}</p>}
      {isOpen && <Brings name={name} />}
    </li>
  );
}

function Brings({ name }: { name: string }) {
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["plugin", folder, name], queryFn: () => plugins.show(folder, name) });
  return (
    <div className="whole">
      <Asked query={query}>
        {({ brings, warnings }) => (
          <>
            <dl className="terms">
              {brings.map(({ kind, name, runs }) => (
                <div key={`${kind} ${name} ${runs}`}>
                  <dt>
                    {kind} <code>{name}</code>
                  </dt>
                  <dd className="mono mid">{runs}</dd>
                </div>
              ))}
            </dl>
            <Warnings of={warnings} />
          </>
        )}
      </Asked>
    </div>
  );
}
