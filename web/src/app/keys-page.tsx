//! All keys, on one sheet.

import { Dialog } from "../parts";
import { useWords, type Words } from "../words";

type Does = keyof Words["keys"]["does"];

const KEYS: [keyof Words["keys"]["groups"], [string, Does][]][] = [
  [
    "everywhere",
    [
      ["Ctrl K", "palette"],
      ["Alt N", "new"],
      ["/", "search"],
      ["Alt ↑ ↓", "next"],
      ["?", "help"],
    ],
  ],
  [
    "session",
    [
      [".", "details"],
      ["End", "end"],
      ["Esc", "stop"],
      ["Alt C", "copy"],
    ],
  ],
  [
    "agents",
    [
      ["g a", "agents"],
      ["p", "pause"],
      ["x", "stopAgent"],
      ["f", "fit"],
    ],
  ],
  [
    "review",
    [
      ["[ ]", "change"],
      ["{ }", "file"],
      ["k", "keep"],
      ["x", "revert"],
      ["c", "comment"],
      ["⇧ ↑ ↓", "lines"],
      ["K", "keepAll"],
    ],
  ],
  [
    "asked",
    [
      ["y", "once"],
      ["s", "session"],
      ["a", "always"],
      ["e", "edit"],
      ["n", "reject"],
      ["Y N", "all"],
      ["1 … 9", "choose"],
    ],
  ],
  [
    "field",
    [
      ["⏎", "send"],
      ["Tab", "later"],
      ["⇧ ⏎", "line"],
      ["⇧ Tab", "mode"],
      ["↑", "back"],
    ],
  ],
];

export function KeysPage({ onClose }: { onClose: () => void }) {
  const words = useWords();
  return (
    <Dialog label={words.keys.title} className="keys" onClose={onClose}>
      <h1>{words.keys.title}</h1>
      <div className="columns">
        {KEYS.map(([group, keys]) => (
          <section key={group}>
            <h2>{words.keys.groups[group]}</h2>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    {key.split(" ").map((each) => (
                      <kbd key={each}>{each}</kbd>
                    ))}
                  </dt>
                  <dd>{words.keys.does[does]}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="dim small">{words.keys.letters}</p>
    </Dialog>
  );
}
