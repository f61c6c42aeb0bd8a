//! What a person is told when Neco can't do what was asked: one message, and what to do next.

use std::fmt;
use std::path::Path;

use neco_app::disk;
use neco_app::error::{of_config, of_session, of_setup, of_store};
use neco_config::ConfigError;
use neco_model::SetupError;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{ClientError, ErrorCode};
use neco_session::SessionError;
use neco_store::StoreError;

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
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None, code: None }
    }

    /// Wrong usage.
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n{hint}"),
            None => Ok(()),
        }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let exit = match error.trouble {
            Trouble::Invalid | Trouble::NotFound | Trouble::NotAllowed => Exit::Usage,
            Trouble::NoModel => Exit::Provider,
            Trouble::InUse | Trouble::Unsupported | Trouble::Gone => Exit::Failed,
            Trouble::Failed => Exit::of_code(error.code),
        };
        Self { exit, message: error.message, hint: error.hint, code: error.code }
    }
}

/// What the program makes of the errors below it.
macro_rules! as_the_program_tells {
    ($($error:ty => $of:expr),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                $of(error).into()
            }
        })+
    };
}

as_the_program_tells! {
    ConfigError => |error| of_config(&error),
    SetupError => of_setup,
    StoreError => of_store,
    SessionError => of_session,
    ClientError => AppError::from,
}
