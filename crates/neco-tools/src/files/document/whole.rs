//! A document from its beginning, for whoever sends it along instead of asking for pages.

use neco_safety::path::Located;
use neco_toolkit::ToolError;

use super::notebook::{is_notebook, notebook};
use super::pdf::{PDF, pdf};
use super::span::Span;

/// The text of a PDF document or a notebook, at most about `bytes` of it, and no further once `stop` says so; `None`
/// when the file is neither.
///
/// # Errors
/// When it is one and can't be read.
pub fn document_text(located: &Located, bytes: usize, stop: &dyn Fn() -> bool) -> Option<Result<String, ToolError>> {
    let read = match is_notebook(located) {
        true => notebook(located, Span::ALL, bytes).transpose()?,
        false => {
            let (head, _) = located.read(PDF.len() as u64).ok()?;
            head.starts_with(PDF).then(|| pdf(located, Span::ALL, bytes, stop))?
        }
    };
    Some(read.map(|output| output.model))
}
