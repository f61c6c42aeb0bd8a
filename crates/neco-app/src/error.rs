//! What failed below, as a front end is told of it: what happened, and what helps.

use std::fmt::Display;

use neco_config::ConfigError;
use neco_model::SetupError;
use neco_port::PortError;
use neco_proto::app::{AppError, Trouble};
use neco_session::SessionError;
use neco_session::memory::MemoryError;
use neco_session::rewind::RewindError;
use neco_session::workflow::WorkflowError;
use neco_store::StoreError;

/// Something failed that nobody asked for wrongly.
pub(crate) fn failed(error: impl ToString) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
}

/// What was asked for makes no sense.
pub(crate) fn invalid(words: impl ToString) -> AppError {
    AppError::new(Trouble::Invalid, words.to_string())
}

/// The configuration can't be used.
pub fn of_config(error: &ConfigError) -> AppError {
    unusable(&error.problems, error.problems.iter().any(|problem| problem.origin.file().is_some()))
}

/// The configuration can't be used, for these reasons; `in_file` when one of them is in a file.
pub fn unusable(problems: impl IntoIterator<Item: Display>, in_file: bool) -> AppError {
    let problems: Vec<String> = problems.into_iter().map(|problem| format!("\n  {problem}")).collect();
    invalid(format!("your settings can't be used:{}", problems.concat())).hint(match in_file {
        true => "Fix the file and try again; what is open keeps the settings it has. `neco doctor` checks the rest.",
        false => "Fix the flag or variable that is named and try again.",
    })
}

/// A model can't be used.
pub fn of_setup(error: SetupError) -> AppError {
    let is_missing = matches!(
        error,
        SetupError::NoModel(_)
            | SetupError::MissingKey { .. }
            | SetupError::BadKey { .. }
            | SetupError::KeySource { .. }
    );
    let trouble = if is_missing { Trouble::NoModel } else { Trouble::Invalid };
    AppError::new(trouble, error.to_string()).hint("`neco doctor` shows models, keys and what is missing.")
}

/// The store failed.
pub fn of_store(error: StoreError) -> AppError {
    let code = Some(error.code());
    let session = match &error {
        StoreError::InUse { session, .. } => Some(*session),
        _ => None,
    };
    let (trouble, hint) = match &error {
        StoreError::InUse { .. } => (Trouble::InUse, "End the other process, or start a new session with `neco`."),
        StoreError::Write(_) | StoreError::Read(_) => {
            let message = format!("{error} ({})", error.code().number());
            return AppError { code, ..AppError::new(Trouble::Failed, message) };
        }
        StoreError::Foreign { .. }
        | StoreError::Damaged { .. }
        | StoreError::TooNew { .. }
        | StoreError::Gap { .. }
        | StoreError::UnknownSession { .. }
        | StoreError::NotLeased { .. }
        | StoreError::Closed => (Trouble::Failed, "`neco doctor` checks the store."),
    };
    AppError { code, session, ..AppError::new(trouble, error.to_string()).hint(hint) }
}

/// A session can't be had as it was wanted.
pub fn of_session(error: SessionError) -> AppError {
    let trouble = match error {
        SessionError::Store(error) | SessionError::Rewind(RewindError::Store(error)) => return of_store(error),
        SessionError::Rewind(error @ RewindError::Files(_)) => {
            return failed(error)
                .hint("`neco doctor` says whether checkpoints can be made; --conversation leaves files alone.");
        }
        SessionError::Rewind(error @ RewindError::ByOthers(_)) => {
            return invalid(error).hint("Pass --others to overwrite that too; --undo brings it back.");
        }
        SessionError::GoneOn(_) => Trouble::Failed,
        SessionError::Exchanges(_) => return failed(error).hint("The log of the session is still there: try again."),
        SessionError::NotFound(_) | SessionError::NoneHere(_) => Trouble::NotFound,
        SessionError::Rewind(_)
        | SessionError::FolderGone { .. }
        | SessionError::EmptyTitle
        | SessionError::Workflow(_)
        | SessionError::Ambiguous { .. }
        | SessionError::Workspace { .. }
        | SessionError::Model { .. }
        | SessionError::Prompt(_)
        | SessionError::Tree(_)
        | SessionError::Newer { .. }
        | SessionError::OwnModel { .. } => Trouble::Invalid,
    };
    AppError::new(trouble, error.to_string())
}

/// A session can't be written to a file or taken in from one.
pub fn of_port(error: PortError) -> AppError {
    let (trouble, hint) = match error {
        PortError::Store(error) => return of_store(error),
        PortError::Session(error) => return of_session(error),
        PortError::IntoFolder { .. } => (Trouble::Invalid, Some("Name a file in it.")),
        PortError::There { .. } => (Trouble::Invalid, Some("--force writes over it.")),
        PortError::Nobodys { .. } => (Trouble::Invalid, Some("--format names the program that wrote it.")),
        PortError::NoFolder { .. }
        | PortError::IsFolder { .. }
        | PortError::NotOpened { .. }
        | PortError::Empty { .. } => (Trouble::Invalid, None),
        PortError::Endless { .. } => (Trouble::Failed, Some("A big session is imported from a file.")),
        PortError::Opencode(_) => {
            (Trouble::Failed, Some("`opencode export ID > FILE` writes a file that can be imported."))
        }
        PortError::NotWritten { .. }
        | PortError::NotRead { .. }
        | PortError::Broken { .. }
        | PortError::Gone { .. }
        | PortError::Database { .. }
        | PortError::Output { .. } => (Trouble::Failed, None),
    };
    AppError { hint: hint.map(str::to_owned), ..AppError::new(trouble, error.to_string()) }
}

/// A workflow can't be had.
pub fn of_workflow(error: WorkflowError) -> AppError {
    let is_missing = matches!(error, WorkflowError::Unknown { .. });
    AppError::new(if is_missing { Trouble::NotFound } else { Trouble::Invalid }, error.to_string())
}

/// The memory can't do something.
pub fn of_memory(error: MemoryError) -> AppError {
    let trouble = match error {
        MemoryError::Unknown { .. } => {
            return AppError::new(Trouble::NotFound, error.to_string())
                .hint("`neco memory list` lists what is remembered here.");
        }
        MemoryError::Refused(_) => Trouble::Invalid,
        MemoryError::File(_) | MemoryError::Index(_) => Trouble::Failed,
    };
    AppError::new(trouble, error.to_string())
}
