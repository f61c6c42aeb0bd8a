//! The file tools against real folders, called as a scheduler calls them.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod desk;
mod edit;
mod finding;
mod guards;
mod read;
mod write;
