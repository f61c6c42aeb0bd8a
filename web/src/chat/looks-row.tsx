//! What was looked at together, in one line; and one by one when somebody wants that.

import { memo, useState } from "react";
import type { BlockOf } from "../fold";
import { Glyph, Icon } from "../parts";
import { useFormat, useWords } from "../words";
import { CallRow } from "./call-row";
import { looks } from "./call-words";
import { Track } from "./track-line";

const ORDER = ["read", "search", "list", "other"] as const;

type Given = { calls: BlockOf<"call">[]; first: boolean; last: boolean; count: number };

export const LooksRow = memo(({ calls, first, last }: Given) => {
  const words = useWords();
  const format = useFormat();
  const [isOpen, setOpen] = useState(false);
  const kinds = calls.map(({ data }) => looks(data.tool) ?? "other");
  const said = ORDER.map((kind) => ({ kind, count: kinds.filter((each) => each === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => words.call.looked(kind, count));
  const took = calls.reduce((sum, { data }) => sum + (data.end?.duration_ms ?? 0), 0);
  const [head] = calls;
  if (head === undefined) return null;
  return (
    <>
      <Track
        at_ms={head.at_ms}
        first={first}
        last={last && !isOpen}
        isVoid={head.void}
        node={<Glyph shape="group" tone="done" label={words.call.lookedAround} />}
      >
        <button type="button" className="call" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <b>{words.call.lookedAround}</b>
          <span className="dim cut small">{said.join(" · ")}</span>
          <span className="end">
            {took > 0 && format.duration(took)}
            <Icon name={isOpen ? "down" : "right"} small />
          </span>
        </button>
      </Track>
      {isOpen &&
        calls.map((call, at) => (
          <CallRow key={call.id} block={call} first={false} last={last && at === calls.length - 1} />
        ))}
    </>
  );
});
