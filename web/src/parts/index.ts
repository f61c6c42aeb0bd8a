//! Our own controls: small, named like the look names them, and without any knowledge of sessions.

export { CopyButton } from "./copy-button";
export { Dialog } from "./dialog";
export { Diff } from "./diff";
export { Glyph, type Shape, type Tone } from "./glyph";
export { hunks } from "./hunks";
export { Icon, type IconName, Mark } from "./icon";
export { isWriting, useKeys } from "./keys";
export { Pick } from "./pick";
export { draftOf, remarksOf, store, stored, useStored } from "./stored";
