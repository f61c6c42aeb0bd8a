//! What a command printed: as it comes while it runs, its end where it is long, all of it on demand.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { withoutMarks } from "../fold";
import type { BackgroundCommand } from "../proto";
import { ask, bytesOf, useIsLive, useSession } from "../wire";
import { isRunning, type Listed } from "./commands";

/** How often is asked what a command in the background has printed, in milliseconds. */
const OFTEN = 1_000;

/** How often is asked which of them there are. */
const SELDOM = 3_000;

/** Bytes that are read at a time. */
const PIECE = 1024 * 1024;

/** The commands in the background of all agents, as the session tells of them. */
export function useBackground(revision: number): readonly BackgroundCommand[] {
  const { id } = useSession();
  const isLive = useIsLive();
  const { data } = useQuery({
    queryKey: ["background", id, revision],
    queryFn: () => ask(id, { type: "background" }).then(({ commands }) => commands),
    enabled: isLive,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => (state.data?.some(({ ended }) => ended == null) ? SELDOM : false),
  });
  return data ?? [];
}

export type Output = {
  text: string;
  /** Whether it is only the end of what was printed. */
  isEnd: boolean;
  /** How much there is where it is read piece by piece, in bytes. */
  pieces?: { read: number; total: number; readOn: () => void; reads: boolean };
  isComing: boolean;
};

export function useOutput(command: Listed): Output {
  const { id } = useSession();
  const isLive = useIsLive();
  const { run, background, own } = command;
  const tail = useQuery({
    queryKey: ["background output", id, background?.agent_id, background?.name, background?.ended == null],
    queryFn: () =>
      ask(id, {
        type: "background_output",
        agent_id: background?.agent_id ?? "",
        name: background?.name ?? "",
      }).then(({ tail }) => tail),
    enabled: background !== undefined && isLive,
    refetchInterval: isRunning(command) ? OFTEN : false,
  });
  const seq = run?.end_seq;
  const isSpilled = background === undefined && run?.end?.spilled_to != null && seq !== undefined;
  const whole = useInfiniteQuery({
    queryKey: ["output", id, seq],
    queryFn: ({ pageParam }) => bytesOf(id, seq ?? 0, pageParam, pageParam + PIECE),
    initialPageParam: 0,
    getNextPageParam: (last, _, start) =>
      start + last.bytes.length < last.total ? start + last.bytes.length : undefined,
    enabled: isSpilled,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data } = whole;
  const read = useMemo(() => {
    const decoder = new TextDecoder();
    return data?.pages.map(({ bytes }) => decoder.decode(bytes, { stream: true })).join("");
  }, [data]);

  if (own !== undefined) return { text: own.printed, isEnd: own.isCut === true, isComing: false };
  if (background !== undefined) {
    return { text: tail.data ?? tailOf(command), isEnd: true, isComing: tail.isPending };
  }
  if (run?.end === undefined) return { text: run?.printed ?? "", isEnd: false, isComing: false };
  if (isSpilled && read !== undefined) {
    const got = data?.pages.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0;
    const total = data?.pages[0]?.total ?? 0;
    const pieces = { read: got, total, readOn: () => void whole.fetchNextPage(), reads: whole.isFetchingNextPage };
    return { text: read, isEnd: false, isComing: false, ...(got < total && { pieces }) };
  }
  if (isSpilled) return { text: tailOf(command), isEnd: true, isComing: whole.isPending };
  return { text: withoutMarks(run.end.output).trimEnd(), isEnd: false, isComing: false };
}

function tailOf({ run }: Listed): string {
  return run?.end?.display?.kind === "terminal" ? run.end.display.tail : "";
}
