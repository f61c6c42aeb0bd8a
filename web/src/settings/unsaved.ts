//! What was changed and is not saved yet, in one folder's settings; it stays while one looks at other sections.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useMemo, useState } from "react";
import type { Json, SettingList, SettingRow, WrittenSettings } from "../proto";
import { settings } from "../wire";
import { isSame, parsed, written } from "./value";

/** Null takes a setting out of the person's own file. */
export type Changes = ReadonlyMap<string, Json>;

export type Unsaved = {
  folder: string;
  list: SettingList | undefined;
  changes: Changes;
  /** The row of a setting; one that nobody set has no value. */
  row: (key: string) => SettingRow;
  /** A value as it would be. */
  value: (key: string) => Json | undefined;
  set: (key: string, value: Json) => void;
  drop: (key?: string) => void;
  save: () => Promise<void>;
  saved: WrittenSettings | undefined;
};

const UnsavedContext = createContext<Unsaved | undefined>(undefined);

export const UnsavedProvider = UnsavedContext.Provider;

export function useUnsaved(): Unsaved {
  const unsaved = useContext(UnsavedContext);
  if (unsaved === undefined) throw new Error("there are no settings here");
  return unsaved;
}

export function useUnsavedOf(folder: string): Unsaved {
  const queries = useQueryClient();
  const { data: list } = useQuery({ queryKey: ["settings", folder], queryFn: () => settings.list(folder) });
  const [changes, setChanges] = useState<Changes>(new Map());
  const [saved, setSaved] = useState<WrittenSettings>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings count in another folder
  useEffect(() => {
    setChanges(new Map());
    setSaved(undefined);
  }, [folder]);
  const rows = useMemo(() => {
    const all = [...(list?.settings ?? []), ...(list?.unset ?? [])];
    return new Map(all.map((row) => [row.key, row]));
  }, [list]);
  const row = (key: string) => rows.get(key) ?? { key, value: "", layer: "", origins: [] };
  const change = (edit: (changes: Map<string, Json>) => void) => {
    setSaved(undefined);
    setChanges((now) => {
      const next = new Map(now);
      edit(next);
      return next;
    });
  };
  return {
    folder,
    list,
    changes,
    row,
    value: (key) => (changes.has(key) ? changes.get(key) : parsed(row(key).value)),
    set: (key, value) =>
      change((changes) => {
        const isAsBefore = value !== null && isSame(value, parsed(row(key).value) ?? null);
        if (isAsBefore) changes.delete(key);
        else changes.set(key, value);
      }),
    drop: (key) => change((changes) => (key === undefined ? changes.clear() : changes.delete(key))),
    save: async () => {
      const all = Array.from(changes, ([key, value]) => ({ key, value }));
      const told = await settings.set(folder, all);
      setChanges(new Map());
      setSaved(told);
      // Settings decide about everything that is shown here.
      await queries.invalidateQueries();
    },
    saved,
  };
}

/** A value once it has not changed for a moment. */
function useSettled<T>(value: T, key: string): T {
  const [settled, settle] = useState(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when it is another value
  useEffect(() => {
    const timer = setTimeout(() => settle(value), 200);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

/** What the server says of changes, while they are written: what is wrong with them, and whether they free agents. */
export function useCheck(folder: string, changes: Changes) {
  const now = Array.from(changes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => written(key, value));
  const settled = useSettled(now, now.join("\n"));
  const isSettled = isSame(settled, now);
  const { data, error, isFetching } = useQuery({
    queryKey: ["settings.check", folder, settled],
    queryFn: () => settings.check(folder, settled),
    enabled: settled.length > 0,
    retry: false,
    staleTime: 30_000,
  });
  return {
    problem: settled.length > 0 && isSettled ? error : null,
    loosens: settled.length > 0 && data?.loosens === true,
    isChecked: isSettled && !isFetching,
  };
}
