//! PDF documents, shown as text page by page.

use std::fmt::Write;
use std::time::{Duration, Instant};

use neco_proto::ErrorCode;
use neco_safety::path::Located;
use neco_toolkit::{ToolError, ToolOutput, counted};

use super::span::{Span, stretch};

/// How PDF documents begin.
pub const PDF: &[u8] = b"%PDF-";

/// A document beyond this is not taken apart.
const MOST_BYTES: u64 = 32 * 1024 * 1024;
/// Pages shown at once.
const MOST_PAGES: usize = 20;
/// A document that takes longer is shown as far as it was read.
const LONGEST: Duration = Duration::from_secs(20);

/// Why a document or a page of it can't be read.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    #[cfg(feature = "pdf")]
    #[error("it is damaged ({0})")]
    Damaged(lopdf::Error),
    #[cfg(feature = "pdf")]
    #[error("it is locked with a password")]
    Locked,
    #[cfg(feature = "pdf")]
    #[error("it is not there")]
    NoPage,
    #[cfg(feature = "pdf")]
    #[error(transparent)]
    Page(#[from] lopdf::Error),
    #[cfg(not(feature = "pdf"))]
    #[error("this Neco was built without reading them; try pdftotext in a command")]
    Unsupported,
}

/// Pages of a document, taken apart by whoever can.
pub trait Pages {
    /// How many there are.
    fn count(&self) -> usize;
    /// The text of one, counted from one, unless `stop` says to give up.
    fn text(&self, number: usize, stop: &dyn Fn() -> bool) -> Result<String, PdfError>;
}

/// The text of a document.
/// Fails when it can't be read, has no such pages, or this program was built without.
pub fn pdf(located: &Located, span: Span, bytes: usize, stop: &dyn Fn() -> bool) -> Result<ToolOutput, ToolError> {
    let shown = located.shown();
    let (content, stamp) = located.read(MOST_BYTES + 1)?;
    if content.len() as u64 > MOST_BYTES {
        let message = format!("{shown} is a PDF document of {} bytes, too big to be read here", stamp.size());
        return Err(ToolError::new(ErrorCode::FileTooLarge, message));
    }
    let pages = opened(&content)
        .map_err(|why| ToolError::new(ErrorCode::NotATextFile, format!("{shown} is a PDF document; {why}")))?;
    if span.first > pages.count() {
        let message =
            format!("{shown} has {}; pages starts at {}", counted(pages.count(), "page", "pages"), span.first);
        return Err(ToolError::new(ErrorCode::InvalidArguments, message));
    }
    Ok(print(&shown, pages.as_ref(), span, bytes, stop))
}

#[cfg(feature = "pdf")]
fn opened(content: &[u8]) -> Result<Box<dyn Pages>, PdfError> {
    Ok(Box::new(super::pdf_text::PdfText::open(content)?))
}

#[cfg(not(feature = "pdf"))]
fn opened(_: &[u8]) -> Result<Box<dyn Pages>, PdfError> {
    Err(PdfError::Unsupported)
}

fn print(shown: &str, pages: &dyn Pages, span: Span, bytes: usize, stop: &dyn Fn() -> bool) -> ToolOutput {
    let (count, started) = (pages.count(), Instant::now());
    let late = || stop() || started.elapsed() > LONGEST;
    let (mut text, mut words, mut next) = (String::new(), false, None);
    for (index, number) in span.of(count).enumerate() {
        let one = match pages.text(number, &late) {
            Ok(page) if page.trim().is_empty() => "[there is no text on this page]".to_owned(),
            Ok(page) => {
                words = true;
                page
            }
            Err(why) => format!("[this page can't be read: {why}]"),
        };
        let full = text.len() + one.len() > bytes && !text.is_empty();
        if full || index >= MOST_PAGES || (late() && index > 0) {
            next = Some(number);
            break;
        }
        let _ = writeln!(text, "── page {number}\n{}", one.trim());
    }
    let end = text.len();
    let more = next.map(|next| format!("; go on with pages={next}-")).unwrap_or_default();
    let empty = if words { "" } else { "; there is no text in it: it may be scanned pictures" };
    let last = next.map_or(*span.of(count).end(), |next| next - 1);
    let _ = write!(text, "(a PDF document, {} of {count}{more}{empty})", stretch("page", span.first, last));
    ToolOutput::text(text).outside(..end, shown)
}
