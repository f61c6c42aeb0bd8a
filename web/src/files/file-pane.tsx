//! One file as it is now: read piece by piece, searched, and with marks at the lines that came in this session.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { CopyButton, hunks, Icon, useKeys } from "../parts";
import { LineList, placesOf, signs } from "../text";
import { Problem, readFile, sessionDiff, useIsLive, useSession, useSlices } from "../wire";
import { useFormat, useWords } from "../words";
import type { Change } from "./file-tree";

type Given = { folder: string; path: string; change: Change | undefined; home: string };

export function FilePane({ folder, path, change, home }: Given) {
  const words = useWords();
  const format = useFormat();
  const isLive = useIsLive();
  const edits = useSlices("changes").edits.filter((edit) => edit.path === path).length;
  const file = useInfiniteQuery({
    queryKey: ["file", folder, path, edits],
    queryFn: ({ pageParam }) => readFile(folder, path, pageParam),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
    staleTime: 5_000,
    retry: (count, problem) => count < 1 && !(problem instanceof Problem && problem.status < 500),
  });
  const { data, error } = file;
  const text = useMemo(() => data?.pages.map((piece) => piece.text).join("") ?? "", [data]);
  const came = useCame(folder, path, change === undefined ? 0 : edits);
  const last = data?.pages.at(-1);
  const isPart = last?.next !== undefined;
  const [sought, setSought] = useState("");
  const [number, setNumber] = useState(0);
  const places = useMemo(() => placesOf(text, sought), [text, sought]);
  const at = places.length === 0 ? 0 : ((number % places.length) + places.length) % places.length;
  const found = useMemo(
    () => (sought === "" ? undefined : { places, length: sought.length, at }),
    [places, sought, at],
  );
  const field = useRef<HTMLInputElement>(null);
  useKeys({ "Mod-f": () => field.current?.select() });

  return (
    <section className="pane">
      <header className="sub">
        <Link href={home} className="btn icon ghost narrow-back" aria-label={words.filesRoom.back}>
          <Icon name="left" />
        </Link>
        <h2 className="mono cut" title={path}>
          {signs(path)}
        </h2>
        {change !== undefined && (
          <span>
            {change.added > 0 && <span className="plus">+{change.added}</span>}{" "}
            {change.removed > 0 && <span className="minus">−{change.removed}</span>}
          </span>
        )}
        {last !== undefined && <span className="dim num small facts">{format.bytes(last.total)}</span>}
        <span className="grow" />
        {text !== "" && (
          <>
            <label className="field find">
              <Icon name="find" small />
              <input
                ref={field}
                type="search"
                aria-label={isPart ? words.filesRoom.findPart : words.filesRoom.find}
                placeholder={isPart ? words.filesRoom.findPart : words.filesRoom.find}
                spellCheck={false}
                value={sought}
                onChange={(event) => {
                  setSought(event.target.value);
                  setNumber(0);
                }}
                onKeyDown={(event) => {
                  if (event.nativeEvent.isComposing) return;
                  if (event.key === "Enter") setNumber(at + (event.shiftKey ? -1 : 1));
                  else if (event.key === "Escape") setSought("");
                  else return;
                  event.preventDefault();
                  event.stopPropagation();
                }}
              />
              {sought !== "" && (
                <span className="dim num small" role="status">
                  {places.length === 0 ? words.filesRoom.noPlace : words.filesRoom.places(at + 1, places.length)}
                </span>
              )}
            </label>
            <button
              type="button"
              className="btn small icon ghost"
              aria-label={words.filesRoom.before}
              title={words.filesRoom.before}
              disabled={places.length < 2}
              onClick={() => setNumber(at - 1)}
            >
              <Icon name="up" small />
            </button>
            <button
              type="button"
              className="btn small icon ghost"
              aria-label={words.filesRoom.next}
              title={words.filesRoom.next}
              disabled={places.length < 2}
              onClick={() => setNumber(at + 1)}
            >
              <Icon name="down" small />
            </button>
            <CopyButton text={text} />
          </>
        )}
        <button
          type="button"
          className="btn small icon ghost"
          aria-label={words.filesRoom.again}
          title={words.filesRoom.again}
          disabled={!isLive || file.isFetching}
          onClick={() => void file.refetch()}
        >
          <Icon name="retry" small />
        </button>
      </header>
      {error !== null && data === undefined ? (
        <NotShown problem={error} />
      ) : data === undefined ? (
        <p className="dim pad late">{words.filesRoom.reading}</p>
      ) : text === "" ? (
        <p className="dim pad">{last?.isBinary ? words.filesRoom.binary : words.filesRoom.empty}</p>
      ) : (
        <LineList
          label={words.filesRoom.content(path)}
          text={text}
          language={path}
          numbers
          came={came}
          {...(found && { found })}
        >
          {isPart && (
            <p className="more">
              <span className="dim num">
                {words.filesRoom.read(format.bytes(last?.next ?? 0), format.bytes(last?.total ?? 0))}
              </span>
              <button
                type="button"
                className="btn small"
                disabled={file.isFetchingNextPage || !isLive}
                onClick={() => void file.fetchNextPage()}
              >
                {words.filesRoom.readOn}
              </button>
            </p>
          )}
        </LineList>
      )}
    </section>
  );
}

function NotShown({ problem }: { problem: Error }) {
  const words = useWords();
  return (
    <div className="page" role="alert">
      <h1>{words.filesRoom.refused}</h1>
      <p className="mid">{problem.message}</p>
      {problem instanceof Problem && problem.hint !== undefined && <p className="dim">{problem.hint}</p>}
    </div>
  );
}

/** The lines of a file, as it is now, that came since the session began. */
function useCame(folder: string, path: string, edits: number): ReadonlySet<number> | undefined {
  const { id } = useSession();
  const { data } = useQuery({
    queryKey: ["diff", id, folder, path, edits],
    queryFn: () => sessionDiff(id, folder).then(({ files }) => files.find((file) => file.path === path)?.diff ?? ""),
    enabled: edits > 0,
    placeholderData: (before) => before,
  });
  return useMemo(() => {
    if (data === undefined) return undefined;
    const lines = hunks(data).flatMap((hunk) => hunk.lines);
    return new Set(lines.flatMap(({ kind, now }) => (kind === "add" && now !== undefined ? [now] : [])));
  }, [data]);
}
