//! The web tools against servers on this machine that answer as the real ones do.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod bench;
mod fetch;
mod search;
mod server;
