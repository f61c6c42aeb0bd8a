//! code_index and code_search.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod ask;
mod desk;
