//! What a session changed, to be reviewed.

export { Changes } from "./changes";
