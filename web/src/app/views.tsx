//! Where one can go: the views of a session, and the pages beside the sessions. Each is loaded when it is first looked at.

import { type ComponentType, lazy } from "react";
import { Log } from "../chat";
import type { IconName, KeyAct } from "../parts";
import type { Words } from "../words";

/** A view of a session beside its conversation; it finds the session around it. */
export type SessionView = {
  /** The last part of its address, and its key among the words. */
  name: Exclude<keyof Words["views"], "label" | "chat" | "more">;
  icon: IconName;
  /** What a key does that goes there. */
  goes: KeyAct;
  View: ComponentType;
};

const Changes = lazy(async () => ({ default: (await import("../changes")).Changes }));

const Agents = lazy(async () => {
  const { AgentsView } = await import("../agents");
  // What an agent said is drawn like what the session says.
  return { default: () => <AgentsView Log={Log} /> };
});

const Files = lazy(async () => ({ default: (await import("../files")).Files }));

const Terminal = lazy(async () => ({ default: (await import("../terminal")).Terminal }));

const Prompt = lazy(async () => ({ default: (await import("../prompt")).Prompt }));

export const VIEWS: readonly SessionView[] = [
  { name: "changes", icon: "diff", goes: "toChanges", View: Changes },
  { name: "agents", icon: "tree", goes: "toAgents", View: Agents },
  { name: "files", icon: "folder", goes: "toFiles", View: Files },
  { name: "terminal", icon: "term", goes: "toTerminal", View: Terminal },
  { name: "prompt", icon: "stack", goes: "toPrompt", View: Prompt },
];

/** A page beside the sessions; what stands behind its name in the address is its own. */
export type Page = { name: keyof Words["pages"]; icon: IconName; View: ComponentType };

const Tasks = lazy(async () => ({ default: (await import("../tasks")).TasksPage }));

const Workflows = lazy(async () => ({ default: (await import("../tasks")).WorkflowsPage }));

const Usage = lazy(async () => ({ default: (await import("../usage")).UsagePage }));

const Settings = lazy(async () => ({ default: (await import("../settings")).SettingsPage }));

export const PAGES: readonly Page[] = [
  { name: "tasks", icon: "stack", View: Tasks },
  { name: "workflows", icon: "flow", View: Workflows },
  { name: "usage", icon: "chart", View: Usage },
  { name: "settings", icon: "gear", View: Settings },
];
