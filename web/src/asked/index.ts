//! What a person is asked, and their answers.

export { askerOf, openAsks } from "./asks";
export { Dock } from "./dock";
export { type Answerable, AskedAndField, useAnswered, useHoldsKeys } from "./in-words";
