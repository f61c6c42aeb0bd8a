//! Our own controls: small, named like the look names them, and without any knowledge of sessions.

export { nextTheme, otherLanguage, THEMES, type Theme, useLanguage, useTheme } from "./choices";
export { CopyButton } from "./copy-button";
export { Dialog } from "./dialog";
export { Diff } from "./diff";
export { Glyph, type Shape, type Tone } from "./glyph";
export { hunks } from "./hunks";
export { Icon, type IconName, Mark } from "./icon";
export { isWriting, useKeys, useLetters } from "./keys";
export { Pick } from "./pick";
export { draftOf, store, stored, useStored } from "./stored";
export { useWish } from "./wish";
