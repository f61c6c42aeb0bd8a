//! The conversation of a session, and what belongs to it.

export { Inspector } from "./inspector";
export { Log } from "./log";
export { Skeleton } from "./skeleton";
