//! Why a session could not be opened.

use neco_agent::context::PromptError;
use neco_model::SetupError;
use neco_proto::{ErrorCode, PROTOCOL, SessionId};
use neco_store::StoreError;
use neco_workspace::checkpoint::CheckpointError;

use crate::rewind::RewindError;

/// Fewest characters of an id that stand for it, wherever in it they are: fewer are a word or the number of a message.
pub(crate) const SHORTEST_PART: usize = 4;

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum SessionError {
    /// No session of that id.
    #[error("no session {0}{more}; `neco session list --all` lists them", more = asks_for_more(.0))]
    NotFound(String),
    /// Several sessions begin with it.
    #[error("several sessions have {prefix} in their ids: {}. Write one of these ids", .matches.join(", "))]
    Ambiguous { prefix: String, matches: Vec<String> },
    /// No session in the folder yet.
    #[error("no session to continue in {0}; `neco` starts one, `neco session list --all` lists those of other folders")]
    NoneHere(String),
    /// A workflow of it does not let that be done.
    #[error("{0}")]
    Workflow(String),
    /// The agents of the session can't be brought back.
    #[error("the agents of the session can't be brought back: {0}")]
    Tree(String),
    /// The workspace of the session is gone or can't be used.
    #[error("the folder {path} can't be used: {reason}")]
    Workspace { path: String, reason: String },
    /// The workspace of the session is not where it was.
    #[error(
        "the folder of session {} is gone: {path}. If it was moved, run this in its new place, or name another folder with -C DIR",
        short(*.id)
    )]
    FolderGone { id: SessionId, path: String },
    /// It does not go back.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// Something was said since it was looked at.
    #[error("session {} has changed in the meantime; look again", short(*.0))]
    GoneOn(SessionId),
    /// A newer version wrote something that this one must not write after.
    #[error(
        "session {id} was continued by a newer Neco (protocol {needs}, this one speaks {PROTOCOL}). Update Neco to resume \
         it; `neco session show {id}` and `neco session export {id}` read it as it is"
    )]
    Newer { id: SessionId, needs: u32 },
    /// A title without words.
    #[error("a title needs at least one word")]
    EmptyTitle,
    /// The model can't be had.
    #[error("{error}")]
    Model { model: String, error: Box<SetupError> },
    /// The model that an earlier session used can't be had.
    #[error("this session used {model}, which can't be used: {error}. Resume it with another model: --model NAME")]
    OwnModel { model: String, error: Box<SetupError> },
    /// A file in the place of a prompt is wrong.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// What is kept of it with checkpoints can't be removed.
    #[error("what was said can't be removed from the repository of checkpoints: {0}")]
    Exchanges(CheckpointError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionError {
    /// The stable code, where there is one.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Store(error) => Some(error.code()),
            Self::Rewind(error) => error.code(),
            _ => None,
        }
    }
}

/// The end of an id, by which people name a session: ids begin with the time, so those of one day look alike.
pub(crate) fn short(id: SessionId) -> String {
    let text = id.to_string();
    text.chars().skip(text.chars().count().saturating_sub(6)).collect()
}

/// That so little of an id is not looked for inside of ids.
fn asks_for_more(part: &str) -> &'static str {
    if part.chars().count() < SHORTEST_PART { " (give four characters or more of an id)" } else { "" }
}
