//! Events become what a person sees: `fold(view, events)`. No clock, no page, no network.

export { CALL, isLive } from "./agents";
export * from "./block";
export { fold, isPlain } from "./fold";
export { isAtWork, workOf } from "./idle";
export { counts, effective } from "./rewinds";
export type { Run } from "./runs";
export { shape } from "./shape";
export { works } from "./standing";
export * from "./view";
export { clean, cleanLine, RAN, withoutMarks, written } from "./words";
export { REFUSED } from "./work";
