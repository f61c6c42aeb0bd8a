//! Where the person writes.

export { Composer } from "./composer";
export { Field } from "./field";
export { SettingPicks } from "./picks";
