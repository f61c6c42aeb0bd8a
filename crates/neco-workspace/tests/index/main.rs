//! The index on real folders.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod changes;
mod desk;
mod find;
mod followed;
mod languages;
mod together;
