//! The only room that talks to the server: one WebSocket a tab, requests for the rest.

export { changeOf, changesOf, keepMarks, readLines, rewindPoints, type Span, toolsOf } from "./changes";
export {
  SessionContext,
  useBlock,
  useEnded,
  useFollowed,
  useIsLive,
  useIsOpen,
  useLine,
  useOutgoing,
  useRows,
  useSeq,
  useSession,
  useSlices,
  useWire,
  Wire,
  WireContext,
} from "./hooks";
export { Problem, signIn, signOut, tabToken } from "./http";
export type { LineState } from "./line";
export { branch, findPlaces, makeSession, models, type NewSession, type Opened, recentFolders } from "./open";
export type { LiveSession, Outgoing } from "./session";
