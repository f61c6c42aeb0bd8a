//! Providers, keys and models: tried before they are kept, in the settings and where somebody begins.

export { FirstModel } from "./first-model";
export { KeyForm } from "./key-form";
export { OwnServer } from "./own-server";
export { saysNext, wordsOf } from "./words-of";
