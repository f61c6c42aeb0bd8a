//! What is said on the wire: the types of events, commands and answers, from the Rust code.

export type * from "./types";
