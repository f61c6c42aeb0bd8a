//! Why a path can't be used, in words that say what to do instead.

use std::io;
use std::path::Path;

use neco_proto::ErrorCode;

/// Why a path can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum PathError {
    /// Nothing was given.
    #[error("the path is empty; give the path of a file or folder, or \".\" for the workspace itself")]
    Empty,
    /// No system can open such a name.
    #[error("the path {0:?} contains a NUL character; no file has such a name")]
    Nul(String),
    /// It leaves every root.
    #[error(
        "{path} lies outside the workspace {workspace}{leads_to}; give a path inside the workspace, or the user \
             opens that folder with /add-dir, or with --add-dir at the start"
    )]
    Outside {
        path: String,
        workspace: String,
        /// Where it ends, when the path itself does not show it.
        leads_to: String,
    },
    /// It lets somebody into Neco, or into a service in the person's name.
    #[error("{0} holds credentials of Neco itself: no tool reads or writes them, also when the user says yes")]
    OwnCredential(String),
    /// The root it lies in may only be read.
    #[error("{0} can be read but not written; write inside the workspace")]
    ReadOnlyRoot(String),
    /// There is nothing of this name.
    #[error("{0} does not exist")]
    NotFound(String),
    /// A folder where a file is wanted.
    #[error("{0} is a folder, not a file")]
    IsDirectory(String),
    /// A file where a folder is wanted.
    #[error("a part of {0} that should be a folder is a file")]
    NotADirectory(String),
    /// Neither a file nor a folder.
    #[error("{path} is {kind}, not a file; it is not opened, because that could wait for ever")]
    Special { path: String, kind: &'static str },
    /// Links that lead in a circle.
    #[error("{0} goes through links that lead in a circle")]
    LinkLoop(String),
    /// Something was put in the way between the check and the use.
    #[error("{0} became a link after it was checked; nothing was read or written")]
    Swapped(String),
    /// The file's own permissions say no.
    #[error("{0} is write-protected; ask before you change its permissions")]
    WriteProtected(String),
    /// A new file would lack something that the old one has.
    #[error(
        "{0} was not written: the new file could not have the owner, permissions, access list or attributes of the old \
         one; change it with a command"
    )]
    NotKept(String),
    /// Someone else wrote, made or removed it in the meantime.
    #[error("{0} was changed by someone else in the meantime; nothing was written, read it again")]
    Changed(String),
    /// What stands on the disk is not what was written.
    #[error("{0} does not hold what was written to it when it is read back; the disk may be full or failing")]
    NotAsWritten(String),
    /// The system said no.
    #[error("{path}: {message}")]
    Io { path: String, message: String },
}

impl PathError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Outside { .. } | Self::ReadOnlyRoot(_) | Self::Swapped(_) => ErrorCode::PathOutsideWorkspace,
            Self::OwnCredential(_) => ErrorCode::BlockedByPolicy,
            Self::NotFound(_) => ErrorCode::FileNotFound,
            Self::Changed(_) => ErrorCode::FileChanged,
            Self::Empty
            | Self::Nul(_)
            | Self::IsDirectory(_)
            | Self::NotADirectory(_)
            | Self::Special { .. }
            | Self::LinkLoop(_)
            | Self::WriteProtected(_)
            | Self::NotKept(_)
            | Self::NotAsWritten(_)
            | Self::Io { .. } => ErrorCode::ToolFailed,
        }
    }

    /// The error for what the system said while a path was being resolved.
    pub(crate) fn while_resolving(path: &Path, error: &io::Error) -> Self {
        let shown = path.display().to_string();
        match rustix::io::Errno::from_io_error(error) {
            Some(rustix::io::Errno::LOOP) => Self::LinkLoop(shown),
            _ => Self::from_io(shown, error),
        }
    }

    /// The error for what the system said while a resolved path was being used.
    pub(super) fn while_using(shown: String, error: rustix::io::Errno) -> Self {
        match error {
            // Every link was resolved before, so a link or a way out can only have come since.
            rustix::io::Errno::LOOP | rustix::io::Errno::XDEV => Self::Swapped(shown),
            _ => Self::from_io(shown, &error.into()),
        }
    }

    pub(crate) fn from_io(shown: String, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound(shown),
            io::ErrorKind::NotADirectory => Self::NotADirectory(shown),
            io::ErrorKind::IsADirectory => Self::IsDirectory(shown),
            io::ErrorKind::PermissionDenied => {
                Self::Io { path: shown, message: "the system does not permit this".to_owned() }
            }
            io::ErrorKind::StorageFull => Self::Io { path: shown, message: "the disk is full".to_owned() },
            io::ErrorKind::InvalidFilename => {
                Self::Io { path: shown, message: "the name is too long or not a valid file name".to_owned() }
            }
            _ => Self::Io { path: shown, message: error.to_string() },
        }
    }
}
