//! The only room that talks to the server: one WebSocket a tab, requests for the rest.

export { audit, tokens } from "./access";
export { ask, bytesOf } from "./asking";
export { changeOf, keepMarks, readLines, rewindPoints, type Span, toolsOf } from "./changes";
export { listFiles, readFile, sessionDiff } from "./files";
export {
  SessionContext,
  useAgentLog,
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
  useShell,
  useSlices,
  useWire,
  Wire,
  WireContext,
} from "./hooks";
export { Problem, signIn, signOut, tabToken } from "./http";
export type { LineState } from "./line";
export { branch, findPlaces, makeSession, type NewSession, type Opened, recentFolders } from "./open";
export {
  agents,
  hooks,
  keys,
  memory,
  models,
  type NewSetting,
  plugins,
  rules,
  sandbox,
  servers,
  settings,
  skills,
  trust,
  usage,
  usedSessions,
} from "./program";
export type { LiveSession, Outgoing } from "./session";
export type { Shell, ShellEnd, ShellLine } from "./shell";
export { useChanges } from "./use-changes";
export { cancelRun, command, orderRun, runWorkflow, snapshot, workflow, workflowRun, workflows } from "./workflows";
