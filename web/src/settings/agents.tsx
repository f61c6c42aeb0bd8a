//! The agents that can do a part of the work: who they are, whose they are, and what they are told.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Icon } from "../parts";
import type { AgentDefinition } from "../proto";
import { agents } from "../wire";
import { useWords } from "../words";
import { Asked } from "./acts";
import { useUnsaved } from "./unsaved";

export function Agents() {
  const words = useWords().settings;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["agents", folder], queryFn: () => agents.list(folder) });
  return (
    <section className="block-of">
      <h2>{words.agents.title}</h2>
      <p className="lead">{words.agents.lead}</p>
      <Asked query={query}>
        {({ agents: all, problems }) => (
          <>
            <ul className="set-lines">
              {all.map((agent) => (
                <Agent key={agent.name} agent={agent} />
              ))}
            </ul>
            {problems.map(({ file, line, message }) => (
              <p key={`${file}:${line}`} className="small del">
                <code>
                  {file}:{line}
                </code>{" "}
                {message}
              </p>
            ))}
          </>
        )}
      </Asked>
    </section>
  );
}

function Agent({ agent }: { agent: AgentDefinition }) {
  const words = useWords().settings;
  const [isOpen, setOpen] = useState(false);
  const { name, description, origin, model, mode, tools } = agent;
  const origins: Record<string, string> = words.origins;
  return (
    <li className="line-of">
      <Icon name="tree" small />
      <button type="button" className="who opens" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <b className="mono">{name}</b>
        <small lang="en">{description}</small>
      </button>
      <span className="chips">
        {model !== undefined && model !== null && <span className="chip">{model}</span>}
        {mode !== undefined && mode !== null && <span className="chip">{mode}</span>}
        <span className="dim small">{origins[origin] ?? origin}</span>
      </span>
      {isOpen && <Shown agent={agent} tools={tools ?? undefined} />}
    </li>
  );
}

function Shown({ agent: { name, file }, tools }: { agent: AgentDefinition; tools: readonly string[] | undefined }) {
  const words = useWords().settings;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["agent", folder, name], queryFn: () => agents.show(folder, name) });
  return (
    <div className="whole">
      {file !== undefined && file !== null && <p className="mono dim">{file}</p>}
      {tools !== undefined && <p className="dim small">{words.agents.tools(tools.join(", "))}</p>}
      <Asked query={query}>{({ prompt }) => <pre className="out well wraps">{prompt}</pre>}</Asked>
    </div>
  );
}
