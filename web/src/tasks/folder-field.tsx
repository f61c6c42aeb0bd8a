//! Where something is to be done: a folder by its whole path, those of late at hand.

import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useStored } from "../parts";
import { recentFolders } from "../wire";

/** The folder that was worked in last, unless somebody names another. */
export function useFolder(): [string, (folder: string) => void, readonly string[]] {
  const [kept, keep] = useStored("folder");
  const { data } = useQuery({ queryKey: ["folders"], queryFn: recentFolders });
  const folders = (data?.folders ?? []).filter(({ is_there }) => is_there).map(({ folder }) => folder);
  return [kept ?? folders[0] ?? "", keep, folders];
}

type Given = { label: string; folder: string; folders: readonly string[]; onFolder: (folder: string) => void };

export function FolderField({ label, folder, folders, onFolder }: Given) {
  const id = useId();
  return (
    <label className="folder-field">
      <span>{label}</span>
      <input
        className="field mono"
        list={id}
        value={folder}
        spellCheck={false}
        onChange={(event) => onFolder(event.target.value)}
      />
      <datalist id={id}>
        {folders.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}

export const isWholePath = (folder: string): boolean => /^(?:\/|[A-Za-z]:[\\/])/.test(folder);
