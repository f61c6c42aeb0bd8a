//! What a person is told when Neco can't do what was asked: one message, and what to do next.

use std::fmt;
use std::path::Path;

use neco_config::ConfigError;
use neco_model::SetupError;
use neco_proto::{ClientError, ErrorCode};
use neco_session::SessionError;
use neco_session::rewind::RewindError;
use neco_store::StoreError;

use crate::disk;
use crate::exit::Exit;

/// Why Neco ends without having done what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How the process ends.
    pub exit: Exit,
    /// What happened.
    pub message: String,
    /// What to do about it, where that is not in the message.
    pub hint: Option<String>,
    /// The stable code, where there is one.
    pub code: Option<ErrorCode>,
}

impl Failure {
    /// A failure with nothing else known.
    #[must_use]
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, code: None }
    }

    /// Wrong usage.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Adds what helps with a store that fails, where nothing else is known to.
    #[must_use]
    pub fn advised(self, data_dir: &Path) -> Self {
        match (&self.code, &self.hint) {
            (Some(ErrorCode::StoreFailed), None) => self.hint(disk::store_advice(data_dir)),
            _ => self,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Failure {
    /// What went wrong and what helps, for a window: it need not say who speaks.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}\n{hint}", self.message),
            None => self.message.clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "neco: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let problems: Vec<String> = error.problems.iter().map(|problem| format!("\n  {problem}")).collect();
        Self::usage(format!("the configuration can't be used:{}", problems.concat()))
            .hint("`neco config path` prints the files; `neco doctor` checks the rest.")
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        let is_key =
            matches!(error, SetupError::MissingKey { .. } | SetupError::BadKey { .. } | SetupError::KeySource { .. });
        let exit = if is_key { Exit::Provider } else { Exit::Usage };
        Self::new(exit, error.to_string()).hint("`neco doctor` shows models, keys and what is missing.")
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::InUse { .. } => {
                "End the other process, or start a new session without --session and --continue."
            }
            StoreError::Write(_) | StoreError::Read(_) => {
                let code = error.code();
                let message = format!("error {}: {error}", code.number());
                return Self { code: Some(code), ..Self::new(Exit::Failed, message) };
            }
            StoreError::Foreign { .. }
            | StoreError::Damaged { .. }
            | StoreError::TooNew { .. }
            | StoreError::Gap { .. }
            | StoreError::UnknownSession { .. }
            | StoreError::Closed => "`neco doctor` checks the store.",
        };
        Self { code: Some(error.code()), ..Self::new(Exit::Failed, error.to_string()).hint(hint) }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => error.into(),
            SessionError::Rewind(RewindError::Store(error)) => error.into(),
            SessionError::Rewind(error @ RewindError::Files(_)) => Self::new(Exit::Failed, error.to_string())
                .hint("`neco doctor` says whether checkpoints can be kept; --conversation leaves files alone."),
            SessionError::Rewind(error) => Self::usage(error.to_string()),
            SessionError::GoneOn(_) => Self::new(Exit::Failed, error.to_string()),
            SessionError::FolderGone { .. }
            | SessionError::EmptyTitle
            | SessionError::Workflow(_)
            | SessionError::NotFound(_)
            | SessionError::Ambiguous { .. }
            | SessionError::NoneHere(_)
            | SessionError::Workspace { .. }
            | SessionError::Model(_)
            | SessionError::Prompt(_)
            | SessionError::Tree(_)
            | SessionError::Newer { .. }
            | SessionError::OwnModel { .. } => Self::usage(error.to_string()),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Failed { code, .. } => {
                Self { code: Some(*code), ..Self::new(Exit::of_code(Some(*code)), error.to_string()) }
            }
            ClientError::Gone => Self::new(Exit::of_code(None), error.to_string()),
            // What was asked makes no sense to the session: nothing was done.
            ClientError::Refused(words) => Self::usage(words.clone()),
        }
    }
}
