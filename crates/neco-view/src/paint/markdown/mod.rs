//! A session as markdown, for a pull request or a bug report: what was said, calls folded.
//!
//! Invariants: the structure of the document is ours alone: words of the model stay markdown, but what would be HTML in them
//! is text, and a fence that they leave open is closed; everything else is escaped or fenced.
//!
//! Reading order: `text` (the ways that words get in), [`painter`].

pub mod painter;
mod text;

pub use painter::Markdown;
