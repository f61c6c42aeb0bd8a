//! A file that is about to be changed: loaded, checked against what the agent knows, written.

use std::borrow::Cow;

use neco_proto::ErrorCode;
use neco_safety::path::{Access, Located, Stamp};
use neco_toolkit::ToolError;

use super::call::FileCall;
use super::judged::{Judgement, Seen, attributes_of};
use super::ledger::Needed;
use super::sniff::{Kind, sniff};
use super::text::Form;

/// A file beyond this is not loaded as a whole.
pub(super) const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// What the model is told of a text that is not as it wrote it.
pub(super) const IN_ORDER: &str =
    " The user's editor formatted it as it was saved: read it again before you change more of it.";

/// A file that is about to be changed.
#[derive(Debug)]
pub struct Draft {
    pub located: Located,
    /// How its text stands in the file.
    pub form: Form,
    /// Its text now, without a byte order mark; `None` when there is no file.
    pub text: Option<Vec<u8>>,
    /// What it is for the policy.
    pub judgement: Judgement,
    before: Option<Stamp>,
    /// How much of the text the agent knows.
    known: Needed,
}

/// A file that was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub bytes: usize,
    /// How many other names (hard links) the old file has, which still show the old content.
    pub other_names: u64,
    /// Whether an editor put the text in order as it saved it.
    pub in_order: bool,
}

impl Written {
    /// What there is to say about other names of the file; often nothing.
    pub fn note(&self) -> String {
        let in_order = if self.in_order { IN_ORDER } else { "" };
        match self.other_names {
            0 => in_order.to_owned(),
            names => {
                format!(
                    " It had {names} other {} (hard links), which keep the old content: this one is a file of its own now.",
                    if names == 1 { "name" } else { "names" }
                ) + in_order
            }
        }
    }
}

impl Draft {
    /// Loads a file, or the absence of one.
    /// Fails when it lies outside, is not what was judged or not as it was then, is no text, is too large, was not read
    /// as far as needed, or was changed since.
    pub fn load(call: &FileCall, path: &str, needed: Needed) -> Result<Self, ToolError> {
        let FileCall { ctx, ledger, judge } = call;
        let world = &ctx.world;
        let located = world.files().locate(path, Access::Write)?;
        let judgement = judge.judge(path, &located, Access::Write)?;
        if !world.has(&located) {
            judge.find(path, &located.shown(), Seen::Nothing)?;
            let (form, known) = (Form::PLAIN, Needed::All);
            return Ok(Self { located, form, text: None, judgement, before: None, known });
        }
        let attributes = attributes_of(&located)?;
        let (bytes, stamp) = world.read(&located, MOST_BYTES + 1)?;
        let shown = located.shown();
        if bytes.len() as u64 > MOST_BYTES {
            let message =
                format!("{shown} has {} bytes, too many to edit here; change it with a command", stamp.size());
            return Err(ToolError::new(ErrorCode::FileTooLarge, message));
        }
        judge.find(path, &shown, Seen::file(attributes, stamp, &bytes))?;
        let form = match sniff(bytes.get(..super::sniff::SNIFFED).unwrap_or(&bytes)) {
            Kind::Text(form) => form,
            Kind::Binary(kind) => return Err(not_text(&shown, kind)),
        };
        // There is nothing to lose in an empty file.
        if !bytes.is_empty() {
            ledger.check(located.path(), &shown, &stamp, &bytes, needed)?;
        }
        let known = if bytes.is_empty() { Needed::All } else { ledger.known(located.path()) };
        let text = form.decode(&bytes).ok_or_else(|| not_text(&shown, "damaged UTF-16"))?;
        Ok(Self { located, form, text: Some(text), judgement, before: Some(stamp), known })
    }

    /// Its text now, as far as it is text.
    pub fn old_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.text.as_deref().unwrap_or_default())
    }

    /// Writes the text that takes the place of all of it.
    pub fn write_whole(&self, call: &FileCall, text: &[u8]) -> Result<Written, ToolError> {
        self.write(call, text, Needed::All)
    }

    /// Writes the text with some of it changed, in the file's own form, and remembers it.
    /// Fails when the file was changed since it was loaded, or can't be written.
    pub fn write_changed(&self, call: &FileCall, text: &[u8]) -> Result<Written, ToolError> {
        self.write(call, text, self.known)
    }

    fn write(&self, call: &FileCall, text: &[u8], known: Needed) -> Result<Written, ToolError> {
        let bytes = self.form.encode(text);
        let replaced = call.ctx.world.write(&self.located, &bytes, self.before.as_ref(), None)?;
        let in_order = replaced.instead.is_some();
        // What the editor made of it nobody has read.
        let known = if in_order { Needed::Some } else { known };
        let bytes = replaced.instead.unwrap_or(bytes);
        call.ledger.know_written(self.located.path(), replaced.stamp, &bytes, known);
        Ok(Written { bytes: bytes.len(), other_names: replaced.other_names, in_order })
    }
}

/// The refusal of what is no text.
pub(super) fn not_text(shown: &str, kind: &str) -> ToolError {
    ToolError::new(ErrorCode::NotATextFile, format!("{shown} is {kind}, not a text file; it was not changed"))
}
