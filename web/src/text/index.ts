//! Texts of others, drawn as text and nothing else.

export { Markdown } from "./markdown";
export { visible } from "./visible";
