//! A session as a file: JSONL to keep and to import again, markdown and HTML to read.
//!
//! Invariants: writers open no file and ask no store: events go in, text comes out of them, event by event, so
//! that a long session is never in memory as a whole. What is for readers is told in two passes over the same events: [`Outline`] looks at what is ahead, then a writer tells
//! it. Whatever an event holds can be neither markup nor a command to a terminal in what is written.
//!
//! Reading order: [`jsonl`], [`Outline`] and [`tale`] (what a reader wants of a log), `words`, `facts`
//! and `figures`, [`markdown`], [`html`], [`session`] (a session of the store, written to a file).

mod about;
mod facts;
mod figures;
pub mod html;
pub mod jsonl;
pub mod markdown;
mod one_line;
#[cfg(test)]
mod sample;
pub mod session;
pub mod tale;
#[cfg(test)]
mod tests;

pub use about::About;
pub use html::HtmlWriter;
pub use jsonl::{Header, JsonlWriter};
pub use markdown::MarkdownWriter;
pub use neco_view::reduce::Outline;
pub use session::Export;
