//! Values that a newer version may have more words for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value in an answer whose words requests or settings take too, so that they refuse one that they do not know: here
/// such a word is kept as it is.
///
/// ```
/// use neco_proto::app::Known;
/// use neco_proto::app::keys::KeyPlace;
///
/// let read: Vec<Known<KeyPlace>> = serde_json::from_str(r#"["keyring", "vault"]"#)?;
/// assert_eq!(read[0], KeyPlace::Keyring);
/// assert_eq!(read[1].to_string(), "vault");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Known<T> {
    /// A value that this version knows.
    This(T),
    /// The word of a newer version.
    Newer(String),
}

impl<T> From<T> for Known<T> {
    fn from(value: T) -> Self {
        Self::This(value)
    }
}

impl<T: Default> Default for Known<T> {
    fn default() -> Self {
        Self::This(T::default())
    }
}

impl<T: PartialEq> PartialEq<T> for Known<T> {
    fn eq(&self, other: &T) -> bool {
        matches!(self, Self::This(value) if value == other)
    }
}

impl<T: fmt::Display> fmt::Display for Known<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This(value) => value.fmt(formatter),
            Self::Newer(word) => formatter.pad(word),
        }
    }
}
