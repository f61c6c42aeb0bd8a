//! Trust: what this folder would switch on by itself, and what was decided about others.

import { useQuery } from "@tanstack/react-query";
import { Glyph, Icon } from "../parts";
import { trust } from "../wire";
import { useWords } from "../words";
import { Asked, Trouble, useActs, Warnings } from "./acts";
import { useUnsaved } from "./unsaved";

export function Trust() {
  return (
    <>
      <Here />
      <Decided />
    </>
  );
}

function Here() {
  const words = useWords().settings.trust;
  const { folder } = useUnsaved();
  const acts = useActs();
  const query = useQuery({ queryKey: ["trust.folder", folder], queryFn: () => trust.show(folder) });
  return (
    <section className="block-of">
      <h2>{words.here}</h2>
      <p className="lead">{words.lead}</p>
      <Asked query={query}>
        {({ described, seen, all_on, warnings }) =>
          described === "" ? (
            <p className="dim">{words.nothing}</p>
          ) : (
            <>
              <p className="stands">
                {all_on ? <Glyph shape="done" tone="good" /> : <Glyph shape="no" tone="off" />}
                {all_on ? words.isOn : words.isOff}
              </p>
              <pre className="out well wraps">{described}</pre>
              <p className="acts">
                {!all_on && (
                  <button
                    type="button"
                    className="btn"
                    disabled={acts.busy !== undefined}
                    onClick={() => void acts.run("trust", () => trust.decide(folder, seen, true))}
                  >
                    {words.trust}
                  </button>
                )}
                <button
                  type="button"
                  className="btn danger"
                  disabled={acts.busy !== undefined}
                  onClick={() => void acts.run("refuse", () => trust.decide(folder, seen, false))}
                >
                  {words.refuse}
                </button>
              </p>
              <Warnings of={warnings} />
            </>
          )
        }
      </Asked>
      <Trouble problem={acts.problem} />
    </section>
  );
}

function Decided() {
  const words = useWords().settings.trust;
  const acts = useActs();
  const query = useQuery({ queryKey: ["trust"], queryFn: trust.list });
  const states: Record<string, string> = words.states;
  return (
    <section className="block-of">
      <h2>{words.decided}</h2>
      <Asked query={query}>
        {({ folders }) =>
          folders.length === 0 ? (
            <p className="dim">{words.none}</p>
          ) : (
            <ul className="set-lines">
              {folders.map(({ path, state }) => (
                <li key={path} className="line-of">
                  <Icon name="folder" small />
                  <code className="who cut" title={path}>
                    {path}
                  </code>
                  <span className="dim small">{states[state] ?? state}</span>
                  <button
                    type="button"
                    className="btn small"
                    aria-label={`${words.forget}: ${path}`}
                    disabled={acts.busy !== undefined}
                    onClick={() => void acts.run("forget", () => trust.forget(path))}
                  >
                    {words.forget}
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Asked>
      <Trouble problem={acts.problem} />
    </section>
  );
}
