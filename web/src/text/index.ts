//! Texts of others, drawn as text and nothing else.

export { Coloured } from "./coloured";
export { type Parts, useColours } from "./colours";
export { Markdown } from "./markdown";
export { signs } from "./signs";
