//! The end of the work: what it was, what it cost, what it left.

import type { BlockOf } from "../fold";
import { Glyph } from "../parts";
import { useSession } from "../wire";
import { useFormat, useWords } from "../words";
import { Track } from "./track-line";

export function EndRow({ block, first, last }: { block: BlockOf<"end">; first: boolean; last: boolean }) {
  const words = useWords();
  const format = useFormat();
  const { view } = useSession();
  const { reason, turns, duration_ms, waited_ms, usage, over, background, error_code } = block.data;
  const before =
    view.blocks.findLast((other) => other.kind === "end" && other.seq < block.seq && other.data.over)?.seq ?? 0;
  const edits = view.edits.filter(({ seq }) => seq > before && seq <= block.seq);
  const sum = (of: "added" | "removed") => edits.reduce((all, edit) => all + edit[of], 0);
  const files = new Set(edits.map(({ path }) => path)).size;
  const isGood = reason === "natural";
  const node = isGood ? (
    <Glyph shape="done" tone="good" label={words.block.end[reason]} />
  ) : (
    <Glyph
      shape={reason === "failed" ? "fail" : "off"}
      tone={reason === "failed" ? "fail" : "off"}
      label={words.block.end[reason]}
    />
  );
  const spent = format.spent(usage);
  return (
    <Track at_ms={block.at_ms} first={first} last={last} node={node} isVoid={block.void}>
      <div className={over ? "outcome" : "outcome open"}>
        <b>{words.block.end[reason]}</b>
        <span className="mid num">
          {[
            words.block.turns(turns),
            format.duration(duration_ms),
            waited_ms >= 1000 ? words.block.waited(format.duration(waited_ms)) : "",
            error_code === undefined ? "" : words.block.error(error_code),
            over ? "" : words.block.stillAtWork,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
        <span className="grow" />
        {files > 0 && (
          <>
            <span className="plus">+{sum("added")}</span>
            <span className="minus">−{sum("removed")}</span>
            <span className="mid">{words.block.files(files)}</span>
          </>
        )}
        {spent !== undefined && <span className="num">{spent}</span>}
      </div>
      {background?.map(({ name, summary }) => (
        <p key={name} className="dim small">
          <span className="mono">{name}</span> {words.block.runsOn}: {summary}
        </p>
      ))}
    </Track>
  );
}
