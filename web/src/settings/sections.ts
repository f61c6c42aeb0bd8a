//! The sections of the settings, and which setting stands in which.

import type { IconName } from "../parts";
import type { Words } from "../words";

export type SectionName = keyof Words["settings"]["sections"];

export type Section = {
  name: SectionName;
  icon: IconName;
  /** Settings that stand here: the first section that names a beginning of a key has it. */
  keys: readonly string[];
};

export type SectionGroup = { name: keyof Words["settings"]["groups"]; sections: readonly Section[] };

export const SECTIONS: readonly SectionGroup[] = [
  {
    name: "models",
    sections: [
      { name: "models", icon: "key", keys: ["model", "model_groups", "model_providers", "models"] },
      { name: "limits", icon: "chart", keys: ["agent.max_", "agent.parallel_reads", "network"] },
    ],
  },
  {
    name: "work",
    sections: [
      { name: "rules", icon: "box", keys: ["approval", "approval_timeout", "policy", "roots"] },
      { name: "box", icon: "term", keys: ["sandbox"] },
      { name: "modes", icon: "list", keys: ["mode", "agent", "tools"] },
      { name: "agents", icon: "tree", keys: ["agents"] },
      { name: "memory", icon: "mind", keys: ["memory", "context"] },
    ],
  },
  {
    name: "plugged",
    sections: [
      { name: "servers", icon: "plug", keys: ["mcp_servers"] },
      { name: "hooks", icon: "retry", keys: ["hooks"] },
      { name: "skills", icon: "note", keys: ["skills", "scripted_tools"] },
      { name: "plugins", icon: "stack", keys: [] },
      { name: "trust", icon: "folder", keys: [] },
    ],
  },
  {
    name: "window",
    sections: [
      { name: "looks", icon: "theme", keys: [] },
      { name: "notices", icon: "bell", keys: ["notifications"] },
      { name: "keyboard", icon: "keyboard", keys: [] },
      { name: "devices", icon: "laptop", keys: [] },
    ],
  },
  // What is named nowhere else stands in the last one.
  {
    name: "rest",
    sections: [
      { name: "terminal", icon: "split", keys: ["tui"] },
      { name: "more", icon: "more", keys: [] },
    ],
  },
];

export const ALL_SECTIONS: readonly Section[] = SECTIONS.flatMap(({ sections }) => sections);

/** Whether a key is this one or below it; a beginning that ends in `_` is that of a name. */
function isBelow(key: string, beginning: string): boolean {
  return key === beginning || key.startsWith(beginning.endsWith("_") ? beginning : `${beginning}.`);
}

export function sectionOf(key: string): SectionName {
  const found = ALL_SECTIONS.find(({ keys }) => keys.some((beginning) => isBelow(key, beginning)));
  return found?.name ?? "more";
}
