//! A session as a file: JSONL to keep and to import again, YAML for other programs, markdown and HTML to read.
//!
//! Invariants: writers open no file and ask no store: events go in, text comes out of them, event by event, so that a long
//! session is never in memory as a whole. What is for readers is told in two passes over the same events: an [`Outline`] looks
//! at what is ahead, then the view and a painter tell it. Whatever an event holds can be neither markup nor a command to a
//! terminal in what is written.
//!
//! Reading order: [`jsonl`], [`yaml`], [`document`] (what is for readers), [`session`] (a session of the store, written to a file).

mod about;
pub mod document;
pub mod jsonl;
pub mod session;
#[cfg(test)]
mod tests;
pub mod yaml;

pub use about::About;
pub use document::{HtmlWriter, MarkdownWriter};
pub use jsonl::{Header, JsonlWriter};
pub use neco_view::reduce::Outline;
pub use session::Export;
pub use yaml::YamlWriter;
