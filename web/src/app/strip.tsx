//! What is to be known of the connection, above everything: only when it is not as it should be.

import { useEffect, useState } from "react";
import { Glyph } from "../parts";
import { type LineState, useLine, useWire } from "../wire";
import { useFormat, useWords } from "../words";

/** How long a connection may be gone before that is told. */
const QUIET = 1_000;

export function OfflineStrip() {
  const words = useWords();
  const format = useFormat();
  const wire = useWire();
  const line = useLine();
  const lost = useLongLost(line);
  if (lost === undefined) return null;
  return (
    <div className="strip" role="status">
      <Glyph shape="run" tone="run" />
      <b>{words.strip.reconnecting}</b>
      <span className="cut">{words.strip.seenFrom(format.seconds(lost.since_ms))}</span>
      <span className="grow" />
      <span className="dim num">{words.strip.try(lost.tried + 1)}</span>
      <button type="button" className="btn small ghost" onClick={() => wire.line.retry()}>
        {words.strip.tryNow}
      </button>
    </div>
  );
}

function useLongLost(line: LineState): (LineState & { kind: "lost" }) | undefined {
  const [isLong, setLong] = useState(false);
  const lost = line.kind === "lost" ? line : undefined;
  const since = lost?.since_ms;
  useEffect(() => {
    setLong(false);
    if (since === undefined) return;
    const timer = setTimeout(() => setLong(true), QUIET - (Date.now() - since));
    return () => clearTimeout(timer);
  }, [since]);
  return isLong ? lost : undefined;
}
