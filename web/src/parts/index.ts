//! Our own controls: small, named like the look names them, and without any knowledge of sessions.

export { BarTrack } from "./bar-track";
export { nextTheme, otherLanguage, THEMES, type Theme, useLanguage, useTheme } from "./choices";
export { useNow } from "./clock";
export { CopyButton } from "./copy-button";
export { Dialog } from "./dialog";
export { Diff } from "./diff";
export { Glyph, type Shape, type Tone } from "./glyph";
export { hunks } from "./hunks";
export { Icon, type IconName, Mark } from "./icon";
export { Key, useKeyOf } from "./key";
export { clashOf, GROUPS, isFixed, type KeyAct, type KeyGroup, readable } from "./keymap";
export { isWriting, type Keys, keyName, useKeyMap, useKeys, useLetters } from "./keys";
export { Pick } from "./pick";
export { Seg } from "./seg";
export { useSelectedRows } from "./selected-rows";
export { draftOf, draftToAgent, remarksOf, store, stored, useStored } from "./stored";
export { SureButton } from "./sure";
export { useWidth } from "./width";
export { useWish } from "./wish";
export { Asker } from "./worker";
