//! The page of the settings: whose they are, what is looked for, the sections, and what is not saved yet.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation, useParams, useSearch } from "wouter";
import { Glyph, Icon, Pick, useStored } from "../parts";
import type { SettingFiles, SettingList } from "../proto";
import { recentFolders, settings } from "../wire";
import { useWords } from "../words";
import { Asked, Warnings } from "./acts";
import { Saving } from "./saving";
import { SectionBody } from "./section-body";
import { ALL_SECTIONS, SECTIONS, type SectionName } from "./sections";
import { Settings } from "./setting";
import { UnsavedProvider, useUnsaved, useUnsavedOf } from "./unsaved";

export function SettingsPage() {
  const words = useWords().settings;
  const folder = useFolder();
  if (folder.now === undefined) return <h1 className="dim pad waits-a-while">{words.title}</h1>;
  return <Of folder={folder.now} folders={folder.all} onFolder={folder.pick} />;
}

type Given = { folder: string; folders: readonly string[]; onFolder: (folder: string) => void };

function Of({ folder, folders, onFolder }: Given) {
  const words = useWords().settings;
  const { "*": rest = "" } = useParams<{ "*": string }>();
  const unsaved = useUnsavedOf(folder);
  const [letters, setLetters] = useState("");
  const section = ALL_SECTIONS.find(({ name }) => name === rest);
  const sought = letters.trim().toLowerCase();
  const body = useRef<HTMLElement>(null);
  const { data: files } = useQuery({
    queryKey: ["settings.files", folder],
    queryFn: () => settings.files(folder),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another section is read from its beginning
  useEffect(() => {
    setLetters("");
    body.current?.scrollTo(0, 0);
  }, [rest]);
  const shown = section?.name ?? "models";
  return (
    <UnsavedProvider value={unsaved}>
      <div className={section === undefined && sought === "" ? "set at-list" : "set"}>
        <header className="set-bar">
          <Link href="/settings" className="btn icon ghost to-list" aria-label={words.allSections}>
            <Icon name="left" />
          </Link>
          <h1 className="cut">{words.title}</h1>
          <Pick
            label={words.whichFolder}
            value={folder}
            options={folders.map((each) => ({ value: each, label: each || words.everywhere }))}
            onPick={onFolder}
          >
            <Icon name="folder" small />
            <span className="cut">{nameOf(folder) || words.everywhere}</span>
          </Pick>
          <span className="grow" />
          <label className="field find">
            <Icon name="find" small />
            <input
              type="search"
              aria-label={words.find}
              placeholder={words.find}
              value={letters}
              onChange={({ target }) => setLetters(target.value)}
              onKeyDown={({ key }) => key === "Escape" && setLetters("")}
            />
          </label>
        </header>
        <Nav current={shown} isHere={sought === ""} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is long is scrolled by keyboard, too */}
        <section className="setbody" aria-label={words.sections[shown]} tabIndex={0} ref={body}>
          {sought === "" ? <SectionBody key={`${shown} ${folder}`} name={shown} /> : <Found sought={sought} />}
        </section>
        <aside className="set-side" aria-label={words.side}>
          <Saving unsaved={unsaved} file={files?.own ?? "config.toml"} />
          <WhoDecides list={unsaved.list} files={files} />
        </aside>
      </div>
    </UnsavedProvider>
  );
}

/** The folder whose settings count, and those that could; none until it is known which were used. */
function useFolder() {
  const asked = new URLSearchParams(useSearch()).get("folder");
  const [kept, keep] = useStored("folder");
  const { data, isPending } = useQuery({ queryKey: ["folders"], queryFn: recentFolders });
  const recent = (data?.folders ?? []).filter(({ is_there }) => is_there).map(({ folder }) => folder);
  const now = asked ?? kept ?? recent[0] ?? (isPending ? undefined : "");
  const all = now === undefined ? recent : Array.from(new Set([now, ...recent]));
  const [, go] = useLocation();
  const pick = (folder: string) => {
    keep(folder);
    // What the address says counts no more.
    if (asked !== null) go(location.pathname, { replace: true });
  };
  return { now, all, pick };
}

const nameOf = (folder: string) => folder.split(/[\\/]/).filter(Boolean).at(-1) ?? folder;

function Nav({ current, isHere }: { current: SectionName; isHere: boolean }) {
  const words = useWords().settings;
  return (
    <nav className="setnav" aria-label={words.title}>
      {SECTIONS.map(({ name, sections }) => (
        <div key={name}>
          <h2>{words.groups[name]}</h2>
          {sections.map(({ name, icon }) => (
            <Link
              key={name}
              href={`/settings/${name}`}
              className="row"
              aria-current={isHere && name === current ? "page" : undefined}
            >
              <Icon name={icon} />
              {words.sections[name]}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}

/** Settings with words of what is looked for in their key, their meaning or their value. */
function Found({ sought }: { sought: string }) {
  const words = useWords().settings;
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["settings", folder], queryFn: () => settings.list(folder) });
  const parts = sought.split(/\s+/);
  const names = ALL_SECTIONS.filter(({ name }) => words.sections[name].toLowerCase().includes(sought));
  return (
    <Asked query={query}>
      {({ settings, unset = [] }) => {
        const rows = [...settings, ...unset].filter(({ key, meaning = "", value }) => {
          const text = `${key} ${meaning} ${value}`.toLowerCase();
          return parts.every((part) => text.includes(part));
        });
        return (
          <>
            {names.map(({ name, icon }) => (
              <Link key={name} href={`/settings/${name}`} className="row">
                <Icon name={icon} />
                {words.sections[name]}
              </Link>
            ))}
            <p className="lead" role="status">
              {words.found(rows.length)}
            </p>
            <Settings rows={rows} />
          </>
        );
      }}
    </Asked>
  );
}

/** How many settings each layer decides, and the files that are read. */
function WhoDecides({ list, files }: { list: SettingList | undefined; files: SettingFiles | undefined }) {
  const words = useWords().settings;
  if (list === undefined) return null;
  const counts = new Map<string, number>();
  for (const { layer } of list.settings) counts.set(layer, (counts.get(layer) ?? 0) + 1);
  const names: Record<string, string> = words.layers;
  const present = (files?.files ?? []).filter(({ exists }) => exists);
  return (
    <section className="sect">
      <header>
        <h2>{words.whoDecides}</h2>
      </header>
      {Array.from(counts, ([layer, count]) => (
        <div key={layer} className="fileline">
          <Glyph shape="dot" tone={layer === "built-in" ? "done" : "run"} />
          <span>{names[layer] ?? layer}</span>
          <span className="end dim">{words.values(count)}</span>
        </div>
      ))}
      {present.map(({ path }) => (
        <p key={path} className="mono dim cut" title={path}>
          {path}
        </p>
      ))}
      <p className="dim small">{words.projectCant}</p>
      <Warnings of={[...(list.problems ?? []).map(({ words }) => words), ...(list.warnings ?? [])]} />
    </section>
  );
}
