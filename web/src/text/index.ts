//! Texts of others, drawn as text and nothing else.

export { Coloured } from "./coloured";
export { type Parts, partsOf, REST, useColours } from "./colours";
export { LineList } from "./line-list";
export { placesOf } from "./lines";
export { Markdown } from "./markdown";
export { sgr } from "./sgr";
export { signs } from "./signs";
export { withCode } from "./with-code";
