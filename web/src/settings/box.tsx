//! The box that commands run in: what it is on this machine, and what stays open in it.

import { useQuery } from "@tanstack/react-query";
import { Glyph } from "../parts";
import { sandbox } from "../wire";
import { useWords } from "../words";
import { Asked, Warnings } from "./acts";
import { useUnsaved } from "./unsaved";

export function Box() {
  const words = useWords().settings.box;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["sandbox", folder], queryFn: () => sandbox(folder) });
  return (
    <section className="block-of">
      <h2>{words.title}</h2>
      <Asked query={query}>
        {({ in_short, gaps, problems }) => (
          <>
            <p className="stands">
              <Glyph shape={gaps.length === 0 ? "done" : "pause"} tone={gaps.length === 0 ? "good" : "off"} />
              <span lang="en">{in_short}</span>
            </p>
            {gaps.length > 0 && (
              <>
                <h3>{words.gaps}</h3>
                <Warnings of={gaps} />
              </>
            )}
            <Warnings of={problems?.map(({ words }) => words)} />
          </>
        )}
      </Asked>
    </section>
  );
}
