//! Why the store did not do what it was asked.

use neco_proto::{ClientError, ErrorCode, Seq, SessionId};

/// Why the store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum StoreError {
    /// The disk is full, read-only, or failing.
    #[error("could not write the session store: {0}")]
    Write(String),
    /// The database can't be opened or read.
    #[error("could not read the session store: {0}")]
    Read(String),
    /// The file belongs to another program; it was not touched.
    #[error("{path} is a database of another program, not a session store; move it away to begin a new one")]
    Foreign { path: String },
    /// The database is damaged; it was not touched. When it is opened again it is set aside, and a new one
    /// begins with what can be read of it.
    #[error(
        "the session store {path} is damaged ({reason}); the next start sets it aside and takes over what can be read"
    )]
    Damaged { path: String, reason: String },
    /// The database was written by a newer Neco.
    #[error("the session store {path} was written by a newer version of Neco; update Neco to use it")]
    TooNew { path: String },
    /// Events that do not go on where the log ends.
    #[error("event {got} of session {session} came where event {expected} was due")]
    Gap { session: SessionId, expected: Seq, got: Seq },
    /// The catalogue does not have the session.
    #[error("there is no session {session}")]
    UnknownSession { session: SessionId },
    /// The session is open in another process.
    #[error("session {session} is in use by process {pid}")]
    InUse { session: SessionId, pid: u32 },
    /// Whoever appends does not have the right to write the session.
    #[error("session {session} is written without the right to it")]
    NotLeased { session: SessionId },
    /// The store was closed.
    #[error("the session store is closed")]
    Closed,
}

impl StoreError {
    /// A session of this id is there already.
    pub(crate) fn exists(session: SessionId) -> Self {
        Self::Write(format!("session {session} exists already"))
    }

    /// A fork wants more events of `parent` than there are.
    pub(crate) fn not_that_far(parent: SessionId, at: Seq) -> Self {
        Self::Write(format!("session {parent} has no event {at} to fork at"))
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InUse { .. } => ErrorCode::SessionInUse,
            Self::Write(_)
            | Self::Read(_)
            | Self::Foreign { .. }
            | Self::Damaged { .. }
            | Self::TooNew { .. }
            | Self::Gap { .. }
            | Self::UnknownSession { .. }
            | Self::NotLeased { .. }
            | Self::Closed => ErrorCode::StoreFailed,
        }
    }
}

impl From<StoreError> for ClientError {
    fn from(error: StoreError) -> Self {
        Self::Failed { code: error.code(), message: error.to_string() }
    }
}
