//! How a command ends, as a glyph and in words.

import { Glyph, type Shape, type Tone } from "../parts";
import { useWords, type Words } from "../words";

export type Ends =
  | { kind: "running" }
  | { kind: "exit"; code: number }
  | { kind: "stopped" | "killed" | "failed" | "lost" | "refused" };

export function EndGlyph({ ends }: { ends: Ends }) {
  const words = useWords();
  const [shape, tone] = lookOf(ends);
  return <Glyph shape={shape} tone={tone} label={endWords(ends, words)} />;
}

function lookOf(ends: Ends): [Shape, Tone] {
  switch (ends.kind) {
    case "running":
      return ["run", "run"];
    case "exit":
      return ends.code === 0 ? ["done", "done"] : ["fail", "fail"];
    case "failed":
      return ["fail", "fail"];
    case "refused":
      return ["no", "off"];
    case "stopped":
    case "killed":
    case "lost":
      return ["off", "off"];
  }
}

export function endWords(ends: Ends, words: Words): string {
  return ends.kind === "exit" ? words.terminal.exit(ends.code) : words.terminal[ends.kind];
}
