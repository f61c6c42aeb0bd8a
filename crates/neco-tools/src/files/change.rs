//! A file that is about to be changed: loaded, checked against what the agent knows, written.

use neco_proto::{ErrorCode, Risk};
use neco_safety::path::{Access, Located, Stamp, is_sensitive};
use neco_safety::world::Files;
use neco_toolkit::ToolError;

use super::ledger::Ledger;
use super::sniff::{Kind, sniff};
use super::text::Form;

/// A file beyond this is not loaded as a whole.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A file that is about to be changed.
#[derive(Debug)]
pub struct Draft {
    /// Where it is.
    pub located: Located,
    /// How its text stands in the file.
    pub form: Form,
    /// Its text now, without a byte order mark; `None` when there is no file.
    pub text: Option<Vec<u8>>,
    before: Option<Stamp>,
}

impl Draft {
    /// Loads a file, or the absence of one.
    ///
    /// # Errors
    /// When it lies outside, is no text, is too large, was not read, or was changed since.
    pub fn load(files: &Files, ledger: &Ledger, path: &str) -> Result<Self, ToolError> {
        let located = files.locate(path, Access::Write)?;
        if !located.exists() {
            return Ok(Self { located, form: Form::PLAIN, text: None, before: None });
        }
        let (bytes, stamp) = located.read(MOST_BYTES + 1)?;
        let shown = located.shown();
        if bytes.len() as u64 > MOST_BYTES {
            let message =
                format!("{shown} has {} bytes, too many to edit here; change it with a command", stamp.size());
            return Err(ToolError::new(ErrorCode::FileTooLarge, message));
        }
        let form = match sniff(bytes.get(..super::sniff::SNIFFED).unwrap_or(&bytes)) {
            Kind::Text(form) => form,
            Kind::Binary(kind) => return Err(not_text(&shown, kind)),
        };
        // There is nothing to lose in an empty file.
        if !bytes.is_empty() {
            ledger.check(located.path(), &shown, &stamp, &bytes)?;
        }
        let text = form.decode(&bytes).ok_or_else(|| not_text(&shown, "damaged UTF-16"))?;
        Ok(Self { located, form, text: Some(text), before: Some(stamp) })
    }

    /// How much harm changing it could do.
    #[must_use]
    pub fn risk(&self) -> Risk {
        if is_sensitive(self.located.path()).is_some() { Risk::Critical } else { Risk::Medium }
    }

    /// Writes the new text in the file's own form, and remembers it. Gives the number of bytes.
    ///
    /// # Errors
    /// When the file was changed since it was loaded, or can't be written.
    pub fn write(&self, ledger: &Ledger, text: &[u8]) -> Result<usize, ToolError> {
        let bytes = self.form.encode(text);
        let stamp = self.located.replace(&bytes, self.before.as_ref())?;
        ledger.know(self.located.path(), stamp, &bytes);
        Ok(bytes.len())
    }
}

fn not_text(shown: &str, kind: &str) -> ToolError {
    ToolError::new(ErrorCode::NotATextFile, format!("{shown} is {kind}, not a text file; it was not changed"))
}
