//! Where one can go: the views of a session, and the pages beside the sessions. Each is loaded when it is first looked at.

import { type ComponentType, lazy } from "react";
import type { IconName } from "../parts";
import type { Words } from "../words";

/** A view of a session beside its conversation; it finds the session around it. */
export type SessionView = {
  /** The last part of its address, and its key among the words. */
  name: Exclude<keyof Words["views"], "label" | "chat" | "more">;
  icon: IconName;
  /** The letter after `g`. */
  letter: string;
  View: ComponentType;
};

const Files = lazy(() => import("../files").then(({ Files }) => ({ default: Files })));
const Terminal = lazy(() => import("../terminal").then(({ Terminal }) => ({ default: Terminal })));
const Prompt = lazy(() => import("../prompt").then(({ Prompt }) => ({ default: Prompt })));

export const VIEWS: readonly SessionView[] = [
  { name: "files", icon: "folder", letter: "f", View: Files },
  { name: "terminal", icon: "term", letter: "t", View: Terminal },
  { name: "prompt", icon: "stack", letter: "p", View: Prompt },
];

/** A page beside the sessions; what stands behind its name in the address is its own. */
export type Page = { name: keyof Words["pages"]; icon: IconName; View: ComponentType };

export const PAGES: readonly Page[] = [];
