//! The commands of a session and what they print.

export { Terminal } from "./terminal";
