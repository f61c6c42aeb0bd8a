//! What became of what was done last: it stays until something else is done.

import { Link } from "wouter";
import { Icon } from "../parts";
import { useOutgoing, useSession } from "../wire";
import { useWords } from "../words";
import type { Outcome } from "./use-acts";

type Given = { outcome: Outcome; canUndo: boolean; onUndo: () => void; onClose: () => void };

export function OutcomeStrip({ outcome, canUndo, onUndo, onClose }: Given) {
  const words = useWords();
  return (
    <div className="strip" role="status">
      {outcome.kind === "sent" ? (
        <Sent />
      ) : (
        <span className={outcome.kind === "trouble" ? "del cut" : "cut"}>{outcome.text}</span>
      )}
      <span className="grow" />
      {outcome.kind === "reverted" && (
        <button type="button" className="btn small" disabled={!canUndo} onClick={onUndo}>
          {words.review.back.undo}
        </button>
      )}
      <button
        type="button"
        className="btn small ghost icon"
        aria-label={words.close}
        title={words.close}
        onClick={onClose}
      >
        <Icon name="cross" small />
      </button>
    </div>
  );
}

/** Where the answer comes, or where what could not be sent yet waits. */
function Sent() {
  const words = useWords().review.remark;
  const { id } = useSession();
  const waits = useOutgoing().some(({ state }) => state !== "sending");
  return (
    <>
      <span className="cut">{waits ? words.waits : words.sent}</span>
      <Link className="btn small" href={`/s/${id}`}>
        {words.toChat}
      </Link>
    </>
  );
}
