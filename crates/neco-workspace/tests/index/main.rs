//! The index on real folders.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod changes;
mod desk;
mod find;
mod fitting;
mod followed;
mod judged;
mod languages;
mod together;
