//! What is looked at: the files, the lines of those that were seen, and what was said of them.

import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef, useState } from "react";
import type { PlaceNote } from "../proto";
import { changeOf, keepMarks, useChanges, useSession, useSlices } from "../wire";
import { isFileKept, NOTHING_SAID, type Said, withKept } from "./marks";
import type { Range } from "./range";
import { type File, fileOf, type Known, known, type Lines, linesOf } from "./shown";
import { inOrder } from "./tree";

export type Review = {
  files: readonly File[];
  /** What is to be known of the folder of the session. */
  place: PlaceNote | undefined;
  isLoaded: boolean;
  problem: Error | null;
  /** Asks again for what could not be had. */
  again: () => void;
  lines: (path: string) => Known;
  /** The lines of a file are wanted: it is in view, or something is done with it. */
  want: (paths: readonly string[]) => void;
  /** The lines of a file, as soon as they are there. */
  load: (file: File) => Promise<Lines>;
  said: Said;
  isKept: (file: File) => boolean;
  /** Says that these are kept, or are not any more but others are. */
  keep: (marks: readonly string[], kept: boolean, instead?: readonly string[]) => Promise<void>;
};

export function useReview({ from, to }: Range): Review {
  const session = useSession();
  const queries = useQueryClient();
  const { cwd } = useSlices("standing").standing;
  const span = { from, to };
  const list = useChanges(span);
  const files = useMemo(() => inOrder((list.data?.files ?? []).map(fileOf)), [list.data]);

  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set());
  const want = useCallback((paths: readonly string[]) => {
    setWanted((now) => (paths.every((path) => now.has(path)) ? now : new Set([...now, ...paths])));
  }, []);
  const before = useRef(new Map<string, Lines>());
  const asked = useMemo(() => files.filter(({ path }) => wanted.has(path)), [files, wanted]);
  const question = ({ path, mark }: File) => ({
    queryKey: ["change", session.id, from, to, path, mark],
    queryFn: () => changeOf(session.id, cwd, path, span).then(linesOf),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    // Nobody compares thousands of lines with themselves.
    structuralSharing: false,
  });
  const answers = useQueries({ queries: asked.map(question) });
  const now = new Map<string, Known>();
  asked.forEach(({ path }, at) => {
    const answer = answers[at];
    if (answer?.data !== undefined) before.current.set(path, answer.data);
    // What changed while it is looked at stays until the other lines are there.
    now.set(path, answer?.data ?? before.current.get(path) ?? (answer?.isError ? "trouble" : undefined));
  });
  const stands = asked.map(({ path }, at) => `${path}\n${answers[at]?.dataUpdatedAt}\n${answers[at]?.status}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the answers are others when one of these is
  const lines = useCallback((path: string) => now.get(path), [stands]);

  const [said, setSaid] = useState(NOTHING_SAID);
  const keep = async (marks: readonly string[], kept: boolean, instead: readonly string[] = []) => {
    setSaid((now) => new Map([...now, ...marks.map((mark) => [mark, kept] as const)]));
    try {
      const told = await keepMarks(session.id, cwd, { marks: [...marks], kept, instead: [...instead] });
      const now = new Set(told.kept);
      queries.setQueriesData<Lines>({ queryKey: ["change", session.id] }, (lines) => lines && withKept(lines, now));
      await queries.invalidateQueries({ queryKey: ["changes", session.id] });
    } finally {
      setSaid((now) => new Map([...now].filter(([mark]) => !marks.includes(mark))));
    }
  };
  // The lines of a file belong to its mark: those that came never change.
  const again = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ["changes", session.id] }),
      queries.refetchQueries({ queryKey: ["change", session.id], predicate: ({ state }) => state.status === "error" }),
    ]);

  return {
    files,
    place: list.data?.place,
    isLoaded: list.data !== undefined,
    problem: list.error,
    again: () => void again(),
    lines,
    want,
    load: (file) => {
      want([file.path]);
      return queries.ensureQueryData(question(file));
    },
    said,
    isKept: (file) => isFileKept(file, known(lines(file.path)), said),
    keep,
  };
}
