//! Files that are more than lines: pictures, PDF documents, notebooks.
//!
//! Invariants: what such a file holds comes from outside and is bounded in size and time; a picture
//! that a vendor could refuse is never shown, because it would stay in the conversation; a defect in
//! reading one is an error of the call, nothing more.
//!
//! Reading order: [`span`], [`mod@picture`], [`mod@pdf`], [`pdf_text`], [`mod@notebook`], [`whole`].

mod notebook;
mod pdf;
#[cfg(feature = "pdf")]
mod pdf_text;
mod picture;
mod span;
mod whole;

pub(super) use neco_toolkit::picture::media_type;
pub(super) use notebook::{is_notebook, notebook};
pub(super) use pdf::{PDF, pdf};
pub(super) use picture::picture;
pub(super) use span::Span;
pub use whole::document_text;
