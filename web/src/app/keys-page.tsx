//! All keys, on one sheet: those that hold now, and how each is given to something else.

import { useState } from "react";
import { Dialog, GROUPS, type KeyAct, type KeyGroup, useKeyMap } from "../parts";
import { useWords, type Words } from "../words";
import { KeyButton, type Told } from "./key-button";

type Group = keyof Words["keys"]["groups"];

/** What can't be changed, with its keys. */
type Fixed = [keyof Words["keys"]["does"], ...string[]];

const FIXED: Partial<Record<Group, readonly Fixed[]>> = {
  session: [["stop", "Esc"]],
  asked: [["choose", "1", "…", "9"]],
  review: [["lines", "⇧", "↑", "↓"]],
  field: [
    ["send", "⏎"],
    ["later", "Tab"],
    ["line", "⇧", "⏎"],
    ["mode", "⇧", "Tab"],
    ["back", "↑"],
    ["command", "!"],
  ],
};

const ORDER: readonly Group[] = ["everywhere", "session", "asked", "review", "field", "agents"];

const actsOf = (group: Group): KeyAct[] =>
  group in GROUPS ? (Object.keys(GROUPS[group as KeyGroup]) as KeyAct[]) : [];

export function KeysPage({ onClose }: { onClose: () => void }) {
  const words = useWords().keys;
  const { isUsual, reset } = useKeyMap();
  const [told, setTold] = useState<Told>();
  return (
    <Dialog label={words.title} className="keys" onClose={onClose}>
      <header>
        <h1>{words.title}</h1>
        <p className={told?.isRefusal ? "del small" : "dim small"} role="status">
          {told?.words ?? words.change}
        </p>
      </header>
      <div className="columns">
        {ORDER.map((group) => (
          <section key={group}>
            <h2>{words.groups[group]}</h2>
            <dl>
              {actsOf(group).map((act) => (
                <div key={act}>
                  <dt>
                    <KeyButton act={act} onTold={setTold} />
                  </dt>
                  <dd>{words.does[act]}</dd>
                </div>
              ))}
              {FIXED[group]?.map(([does, ...keys]) => (
                <div key={does}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{words.does[does]}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="dim small">{words.letters}</p>
      {!isUsual && (
        <button
          type="button"
          className="btn"
          onClick={() => {
            reset();
            setTold({ words: words.isUsual });
          }}
        >
          {words.usual}
        </button>
      )}
    </Dialog>
  );
}
