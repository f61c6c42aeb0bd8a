//! A line for a person, and how it is meant.

/// What is said of something that only a newer version could word.
pub const NEWER: &str = "is as only a newer version of Neco can say";

/// A line for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What.
    pub text: String,
    /// Whether a person should not pass over it.
    pub warns: bool,
}

impl Told {
    /// A line that is good to know.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), warns: false }
    }

    /// A line that nobody should pass over.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { text: text.into(), warns: true }
    }
}
