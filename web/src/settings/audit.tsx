//! What was done at the server: who did what, the newest first.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { Glyph, Seg } from "../parts";
import type { Actor, AuditLine, AuditPage } from "../proto";
import { audit } from "../wire";
import { useFormat, useWords, type Words } from "../words";
import { Asked } from "./acts";

type Which = "done" | "refused";

export function Audit() {
  const words = useWords().settings.audit;
  const [which, setWhich] = useState<Which>("done");
  const query = useInfiniteQuery({
    queryKey: ["audit", which],
    queryFn: ({ pageParam }) => audit(which === "refused", pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }: AuditPage) => next ?? undefined,
  });
  return (
    <section className="block-of">
      <div className="title-line">
        <h2>{words.title}</h2>
        <span className="grow" />
        <Seg
          label={words.which}
          value={which}
          options={(["done", "refused"] as const).map((value) => ({ value, label: words.whiches[value] }))}
          onPick={setWhich}
        />
      </div>
      <p className="lead">{words.leads[which]}</p>
      <Asked query={query}>
        {({ pages }) => <Lines lines={pages.flatMap(({ lines }) => lines)} none={words.none[which]} />}
      </Asked>
      {query.hasNextPage && (
        <button
          type="button"
          className="btn"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {words.more}
        </button>
      )}
    </section>
  );
}

function Lines({ lines, none }: { lines: readonly AuditLine[]; none: string }) {
  if (lines.length === 0) return <p className="dim">{none}</p>;
  return (
    <ul className="set-lines">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: nothing else tells two lines of the same moment apart
        <Line key={`${line.at} ${at}`} line={line} />
      ))}
    </ul>
  );
}

function Line({ line: { at, by, does, session, from, token, refused } }: { line: AuditLine }) {
  const words = useWords().settings.audit;
  const format = useFormat();
  const isRefused = refused !== undefined && refused !== null;
  return (
    <li className="line-of audit-line">
      {isRefused ? (
        <Glyph shape="no" tone="off" label={words.wasRefused} />
      ) : (
        <Glyph shape="done" tone="done" label={words.wasDone} />
      )}
      <span className="who">
        <b>{nameOf(by ?? undefined, words)}</b> <code className="mono">{does}</code>
        {typeof token === "string" && <small>{token === "" ? words.ownToken : words.token(token)}</small>}
        {typeof from === "string" && <small>{words.from(from)}</small>}
        {isRefused && <small>{refused}</small>}
      </span>
      {typeof session === "string" && (
        <Link href={`/s/${session}`} className="link small">
          {words.session}
        </Link>
      )}
      <time className="dim small num" dateTime={at}>
        {format.whole(Date.parse(at))}
      </time>
    </li>
  );
}

function nameOf(by: Actor | undefined, words: Words["settings"]["audit"]): string {
  switch (by?.kind) {
    case undefined:
      return words.stranger;
    case "person":
      return words.you;
    case "device":
    case "program":
      return by.name;
    case "agent":
      return words.agent;
    case "rule":
      return words.rule(by.rule);
  }
}
