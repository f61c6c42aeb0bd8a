//! Painters: what people see as text of one kind or another.
//!
//! Invariant: nothing that came from a model, a tool or a file is painted with its control characters.
//!
//! Reading order: [`colour`], [`wrap`], then [`text`] (for terminals and for whoever reads a run as lines), [`lists`]
//! (answers of the program), [`document`] with [`markdown`] and [`html`] (a session as a document).

pub mod colour;
pub mod document;
pub mod html;
pub mod lists;
pub mod markdown;
pub mod text;
pub mod wrap;

pub use document::DocumentPainter;
pub use html::Html;
pub use markdown::Markdown;
