//! The file tools against real folders, called as a scheduler calls them.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice, clippy::print_stdout, clippy::print_stderr)]

mod attributes;
mod between;
#[path = "../../../../fixtures/edits/corpus.rs"]
mod corpus;
mod desk;
mod document;
mod edit;
mod editor;
mod finding;
mod guards;
mod left_out;
mod loose;
mod measured;
mod patch;
mod patch_cases;
mod read;
mod write;
