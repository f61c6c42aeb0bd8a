//! Why something that was asked for can't be had.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::client::ClientError;
use crate::error_code::ErrorCode;
use crate::ids::SessionId;

/// Why something that was asked for can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[error("{message}")]
pub struct AppError {
    /// What kind of trouble it is.
    pub trouble: Trouble,
    /// The stable code, where there is one.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// The session that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What happened, for a person.
    pub message: String,
    /// What they can do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is to be said besides, such as of settings that say nothing: it was found on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A kind of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The request makes no sense, or not as things are.
    Invalid,
    /// What it names is not there.
    NotFound,
    /// The caller may not.
    NotAllowed,
    /// Somebody else is at it.
    InUse,
    /// There is no model that could be asked, or no key for it.
    NoModel,
    /// The program that was asked does not do that; another one may.
    Unsupported,
    /// The session has ended, or the process that had it open.
    Gone,
    /// Something failed; also what only a newer version knows.
    #[serde(other)]
    Failed,
}

/// The code, unless only a newer version knows it: the words say the same.
pub(super) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ErrorCode>, D::Error> {
    let number = Option::<u32>::deserialize(deserializer)?;
    Ok(number.and_then(|number| ErrorCode::from_number(number.try_into().ok()?)))
}

impl AppError {
    /// An error without a code.
    #[must_use]
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Self { trouble, code: None, session: None, message: message.into(), hint: None, warnings: Vec::new() }
    }

    /// With what a person can do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// With what was found before it failed.
    #[must_use]
    pub fn after(self, warnings: &[String]) -> Self {
        Self { warnings: [warnings, &self.warnings].concat(), ..self }
    }

    /// What happened and what helps, for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let hint = self.hint.iter().map(|hint| format!("\n{hint}"));
        std::iter::once(self.message.clone()).chain(hint).collect()
    }

    /// The program that was asked does not do that, such as `opens no sessions`.
    #[must_use]
    pub fn unsupported(what: &str) -> Self {
        Self::new(Trouble::Unsupported, format!("this program {what}"))
    }

    /// Nothing is called so.
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self::new(Trouble::NotFound, format!("there is no call {name}"))
    }

    /// The fields of a call or of its answer do not fit.
    #[must_use]
    pub fn not_understood(name: &str, error: &dyn fmt::Display) -> Self {
        Self::new(Trouble::Invalid, format!("{name}: {error}"))
    }
}

impl From<ClientError> for AppError {
    fn from(error: ClientError) -> Self {
        let (trouble, code) = match &error {
            ClientError::Failed { code, .. } => (Trouble::Failed, Some(*code)),
            ClientError::Gone => (Trouble::Gone, None),
            ClientError::Refused(_) => (Trouble::Invalid, None),
        };
        Self { code, ..Self::new(trouble, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_newer_version_keeps_its_words() {
        let newer = r#"{"trouble":"eclipsed","code":7001,"message":"the moon is full","phase":3}"#;
        let read: AppError = serde_json::from_str(newer).unwrap();
        assert_eq!(read, AppError::new(Trouble::Failed, "the moon is full"));
        let own = AppError { code: Some(ErrorCode::StoreFailed), ..AppError::new(Trouble::InUse, "full") };
        assert_eq!(serde_json::from_str::<AppError>(&serde_json::to_string(&own).unwrap()).unwrap(), own);
        assert_eq!(serde_json::to_string(&Trouble::Failed).unwrap(), "\"failed\"");
        assert_eq!(serde_json::from_str::<Trouble>("\"failed\"").unwrap(), Trouble::Failed);
    }
}
