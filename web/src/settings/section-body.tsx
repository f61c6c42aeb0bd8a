//! What stands in a section: what is plugged in or can be tried there, then its settings.

import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { models } from "../wire";
import { useWords } from "../words";
import { Asked, Warnings } from "./acts";
import { Agents } from "./agents";
import { Box } from "./box";
import { Devices } from "./devices";
import { Groups } from "./groups";
import { Memory } from "./memory";
import { Hooks, Plugins, Skills } from "./plugged";
import { Providers } from "./providers";
import { Rules } from "./rules";
import { type SectionName, sectionOf } from "./sections";
import { Servers } from "./servers";
import { Settings } from "./setting";
import { Trust } from "./trust";
import { useUnsaved } from "./unsaved";
import { Keyboard, Looks, Notices } from "./window";

/** What stands above the settings of a section. */
const ABOVE: Partial<Record<SectionName, ComponentType>> = {
  models: Models,
  rules: Rules,
  box: Box,
  agents: Agents,
  memory: Memory,
  servers: Servers,
  hooks: Hooks,
  skills: Skills,
  plugins: Plugins,
  trust: Trust,
  looks: Looks,
  notices: Notices,
  keyboard: Keyboard,
  devices: Devices,
};

export function SectionBody({ name }: { name: SectionName }) {
  const words = useWords().settings;
  const { list } = useUnsaved();
  const Above = ABOVE[name];
  const rows = [...(list?.settings ?? []), ...(list?.unset ?? [])]
    .filter(({ key }) => sectionOf(key) === name)
    .sort((one, other) => (one.key < other.key ? -1 : 1));
  return (
    <>
      <h2 className="hidden-label">{words.sections[name]}</h2>
      {Above !== undefined && <Above />}
      <Settings rows={rows} title={Above === undefined ? words.sections[name] : words.settingsOf} />
    </>
  );
}

function Models() {
  const { folder } = useUnsaved();
  const query = useQuery({ queryKey: ["models.all", folder], queryFn: () => models.list(folder, true) });
  return (
    <Asked query={query}>
      {(list) => (
        <>
          <Groups list={list} />
          <Providers list={list} />
          <Warnings of={list.warnings} />
        </>
      )}
    </Asked>
  );
}
