//! What is said about a configuration: errors, warnings, and where each of them points.

use std::fmt;

use crate::origin::{Origin, Source};
use crate::trail::Trail;

/// One thing to say about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The place.
    pub origin: Origin,
    /// The dotted key, when it is about one.
    pub key: Option<String>,
    /// What there is to say.
    pub message: String,
}

impl Notice {
    /// About a place as a whole.
    pub(crate) fn about(origin: &Origin, message: impl Into<String>) -> Self {
        Self { origin: origin.clone(), key: None, message: message.into() }
    }

    /// About one setting.
    pub(crate) fn about_key(origin: &Origin, key: &Trail, message: impl Into<String>) -> Self {
        Self { origin: origin.clone(), key: Some(key.to_string()), message: message.into() }
    }

    /// A flag already names its key.
    fn key_to_show(&self) -> Option<&str> {
        let key = self.key.as_deref()?;
        let named = match &*self.origin.source {
            Source::Flag(text) => text.strip_prefix("-c ").and_then(|text| text.strip_prefix(key)),
            Source::BuiltIn | Source::File { .. } | Source::Variable(_) => None,
        };
        if named.is_some_and(|rest| rest.starts_with('=')) { None } else { Some(key) }
    }
}

/// `place: key: message`.
impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if let Some(key) = self.key_to_show() {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// The configuration can't be used. Everything that is wrong is in it, in the order of the layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong; never empty.
    pub problems: Vec<Notice>,
}

/// One problem a line.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What makes the configuration unusable.
    pub(crate) problems: Vec<Notice>,
    /// What is only said.
    pub(crate) warnings: Vec<Notice>,
}
