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

const Changes = lazy(() => import("../changes").then(({ Changes }) => ({ default: Changes })));

export const VIEWS: readonly SessionView[] = [{ name: "changes", icon: "diff", letter: "d", View: Changes }];

/** A page beside the sessions; what stands behind its name in the address is its own. */
export type Page = { name: keyof Words["pages"]; icon: IconName; View: ComponentType };

export const PAGES: readonly Page[] = [];
