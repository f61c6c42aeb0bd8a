//! Why a session does not go back.

use neco_proto::{ClientError, ErrorCode};
use neco_store::StoreError;
use neco_workspace::checkpoint::CheckpointError;

/// Why a session does not go back.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum RewindError {
    /// Nobody said anything yet.
    #[error("no message to rewind to: nothing was said in this session yet")]
    NothingSaid,
    /// No message of that number or id.
    #[error("there is no message {wanted}; they are numbered from 1 to {count}")]
    NoMessage { wanted: String, count: usize },
    /// Several messages have an id that begins so.
    #[error("several messages begin with {0}; give more of the id, or the number")]
    Ambiguous(String),
    /// No state of that name.
    #[error("{0} is neither the number of a message nor the name of a checkpoint of this session")]
    NoState(String),
    /// Several states have a name that begins so.
    #[error("several checkpoints begin with {0}; give more of the name")]
    SeveralStates(String),
    /// No state of the files is known from then.
    #[error("no checkpoint from then, so its files can't be restored: nothing was changed, or checkpoints were off")]
    NoCheckpoint,
    /// There is no rewind to take back.
    #[error("there is no rewind to undo")]
    NothingToUndo,
    /// There is no undo to take back.
    #[error("there is nothing to redo")]
    NothingToRedo,
    /// No message is left to be taken back.
    #[error("nothing to undo: no message of yours is left in this conversation")]
    NothingBack,
    /// Nothing is taken back that could come forth again.
    #[error("nothing to redo: nothing is taken back")]
    NothingForth,
    /// Everything is so already.
    #[error("nothing would change: {0}")]
    Nothing(String),
    /// The agent works.
    #[error("the agent is working; stop it or wait, then rewind")]
    AtWork,
    /// The agent works, and changes of files are to be put back.
    #[error("the agent is working; stop it or wait, then put changes back")]
    AtWorkOnFiles,
    /// A file is not as it was shown, or can't be put back.
    #[error("{0}; nothing was put back")]
    NotPutBack(String),
    /// Nobody works, but agents are paused whose work would no longer be wanted by anybody.
    #[error("{}: /agents cancel NAME stops one, /agents resume NAME goes on with it; then rewind", paused(.0))]
    Paused(Vec<String>),
    /// Somebody else changed files that would be overwritten, or may have, and nobody agreed to that.
    #[error("{0}; rewinding would overwrite that")]
    ByOthers(String),
    /// The same where asking again is agreeing to it.
    #[error("{0}; do it again to overwrite that (undo brings it back)")]
    ByOthersShown(String),
    /// What was said or done since would no longer count, and nobody saw that yet; asking again is agreeing to it.
    #[error("{0}; do it again to go on (it can be undone too)")]
    WorkSince(String),
    /// The workspace can't be looked at or changed.
    #[error("the files can't be restored: {0}")]
    Files(String),
    /// The files went back, and that could not be written down.
    #[error("the files were restored, but that could not be saved: {0}; undo brings them back")]
    NotWritten(StoreError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn paused(names: &[String]) -> String {
    format!("{} {} paused", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

impl RewindError {
    /// The stable code, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        let (Self::Store(error) | Self::NotWritten(error)) = self else { return None };
        Some(error.code())
    }
}

impl From<CheckpointError> for RewindError {
    fn from(error: CheckpointError) -> Self {
        let words = error.to_string();
        match error {
            CheckpointError::ChangedByOthers { .. } | CheckpointError::MaybeByOthers { .. } => Self::ByOthers(words),
            CheckpointError::Unknown(_) => Self::Files(format!(
                "{words}; it was pruned, made on another machine, or made with another checkpoints.backend"
            )),
            _ => Self::Files(words),
        }
    }
}

impl From<RewindError> for ClientError {
    fn from(error: RewindError) -> Self {
        match error.code() {
            Some(code) => Self::Failed { code, message: error.to_string() },
            None => Self::Refused(error.to_string()),
        }
    }
}
