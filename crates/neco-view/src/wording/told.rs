//! A line for a person, and how it is meant.

use std::fmt;

use neco_proto::LineCount;

/// What is said of something that only a newer version could word.
pub const NEWER: &str = "is as only a newer version of Neco can say";

/// A line for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What happens to what the text names; may be empty.
    pub label: &'static str,
    /// What.
    pub text: String,
    /// Lines that come and go with it.
    pub lines: Option<LineCount>,
    /// Whether a person should not pass over it.
    pub warns: bool,
}

impl Told {
    /// A line that is good to know.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { label: "", text: text.into(), lines: None, warns: false }
    }

    /// A line that nobody should pass over.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { warns: true, ..Self::plain(text) }
    }

    /// With what happens to what it names.
    #[must_use]
    pub fn labelled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }
}

/// All of it in one line: `deleted: a.txt +0 −3`.
impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.label.is_empty() {
            write!(f, "{}: ", self.label.to_lowercase())?;
        }
        f.write_str(&self.text)?;
        match self.lines {
            Some(LineCount { added, removed }) => write!(f, " +{added} −{removed}"),
            None => Ok(()),
        }
    }
}
