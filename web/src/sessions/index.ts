//! The sessions there are, and how one begins.

export { nameOf } from "./rows";
export { SessionList } from "./session-list";
export { Start } from "./start";
