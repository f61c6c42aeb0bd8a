//! What was said and waits: until the agent reads it, or until the server can be reached.

import type { BlockOf, View } from "../fold";
import { cleanLine, written } from "../fold";
import { Icon } from "../parts";
import { useOutgoing, useSession, useSlices } from "../wire";
import { useWords } from "../words";

export function waitingIn(view: View): BlockOf<"message">[] {
  return view.blocks.filter(
    (block): block is BlockOf<"message"> =>
      block.kind === "message" && block.data.waits !== undefined && block.data.waits !== "withdrawn" && !block.void,
  );
}

export function Queue({ onTakeBack }: { onTakeBack: (id: string, text: string) => void }) {
  const words = useWords();
  const session = useSession();
  const view = useSlices("said", "blocks");
  const outgoing = useOutgoing();
  const waiting = waitingIn(view);
  const sent = outgoing.filter(({ message_id }) => message_id === undefined || !view.messages.has(message_id));
  return (
    <>
      {waiting.map(({ id, data }, at) => (
        <div key={id} className="queue">
          <Icon name="clock" small />
          <span className="cut">
            {words.composer.waits(data.waits === "after_work" ? "after_work" : "turn_boundary")}:{" "}
            <span className="ink">{cleanLine(written(data.text))}</span>
          </span>
          <span className="grow" />
          <button type="button" className="btn small ghost" onClick={() => onTakeBack(data.message_id, data.text)}>
            {words.composer.takeBack} {at === waiting.length - 1 && <kbd>↑</kbd>}
          </button>
        </div>
      ))}
      {sent.map((said) => {
        const { key, text, state, trouble } = said;
        return (
          <div key={key} className="queue">
            <Icon name={state === "refused" ? "cross" : "clock"} small />
            <span className="cut">
              <span className="ink">{cleanLine(written(text))}</span> ·{" "}
              {state === "sending"
                ? words.composer.sending
                : state === "held"
                  ? words.composer.notSent
                  : words.composer.refused}
              {trouble !== undefined && `: ${trouble}`}
            </span>
            <span className="grow" />
            {state !== "sending" && (
              <button type="button" className="btn small ghost" onClick={() => session.unsay(said)}>
                {words.composer.takeBack}
              </button>
            )}
          </div>
        );
      })}
    </>
  );
}
