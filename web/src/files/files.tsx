//! The files of a session's project: a tree, and one of them as it is now, with what the session changed in it.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLocation } from "wouter";
import { listFiles, useSession, useSlices } from "../wire";
import { useWords } from "../words";
import { FilePane } from "./file-pane";
import { type Change, FileTree } from "./file-tree";
import { foldersOf } from "./tree";
import "../look/rooms.css";

export function Files() {
  const words = useWords();
  const session = useSession();
  const view = useSlices("standing", "changes");
  const folder = view.standing.cwd;
  const revision = view.revs.changes;
  const { data: names } = useQuery({
    queryKey: ["files", folder, revision],
    queryFn: () => listFiles(folder),
    enabled: folder !== "",
    placeholderData: (before) => before,
    staleTime: 10_000,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: edits are added in place
  const changes = useMemo(() => changesOf(view.edits), [view, revision]);
  const [, go] = useLocation();
  const home = `/s/${session.id}/files`;
  // The router decodes some of an address; a name may have anything in it.
  const place = location.pathname;
  const chosen = place.startsWith(`${home}/`) ? decoded(place.slice(home.length + 1)) : "";
  if (names === undefined) return <div className="room" />;
  return (
    <div className={chosen === "" ? "room" : "room chosen"}>
      <FileTree
        folder={folder}
        names={names}
        changes={changes}
        chosen={chosen}
        onChoose={(path) => go(`${home}/${path.split("/").map(encodeURIComponent).join("/")}`)}
      />
      {chosen === "" ? (
        <section className="pane">
          <div className="page">
            <h1>{words.filesRoom.choose}</h1>
            <p className="mid">{words.filesRoom.what}</p>
          </div>
        </section>
      ) : (
        <FilePane key={chosen} folder={folder} path={chosen} change={changes.get(chosen)} home={home} />
      )}
    </div>
  );
}

function decoded(path: string): string {
  try {
    return path.split("/").map(decodeURIComponent).join("/");
  } catch {
    return path;
  }
}

/** What edits did to each file, and which folders have one of them. */
function changesOf(edits: readonly { path: string; added: number; removed: number }[]): Map<string, Change> {
  const changes = new Map<string, Change>();
  const add = (path: string, added: number, removed: number) => {
    const known = changes.get(path) ?? { added: 0, removed: 0 };
    changes.set(path, { added: known.added + added, removed: known.removed + removed });
  };
  for (const { path, added, removed } of edits) {
    add(path, added, removed);
    for (const folder of foldersOf(path)) add(folder, added, removed);
  }
  return changes;
}
