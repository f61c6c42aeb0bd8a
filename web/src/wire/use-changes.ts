//! The files that a session changed, as everybody who shows them has them: asked once, and again when they are others.

import { useQuery } from "@tanstack/react-query";
import { changesOf, type Span } from "./changes";
import { useIsOpen, useSession, useSlices } from "./hooks";

export function useChanges({ from, to }: Span = {}) {
  const { id } = useSession();
  const isOpen = useIsOpen();
  const { revs, standing, over } = useSlices("changes", "standing");
  // Commands change files too: what they did is known after the turn.
  const stamp = `${revs.changes}/${standing.iteration}/${over}`;
  return useQuery({
    queryKey: ["changes", id, from, to, stamp],
    queryFn: () => changesOf(id, standing.cwd, { from, to }),
    enabled: isOpen && standing.cwd !== "",
    // What stood here before stays until the other is there, unless it is another session's.
    placeholderData: (before, query) => (query?.queryKey[1] === id ? before : undefined),
    staleTime: 5_000,
  });
}
