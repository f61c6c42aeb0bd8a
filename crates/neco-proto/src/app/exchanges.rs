//! What is kept of sessions in the repository of checkpoints: exchanges, each a commit, and sessions out of them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::port::ImportedSession;
use super::request::request;
use crate::ids::SessionId;

/// Lists the exchanges of a session in the repository of its checkpoints: what was said and all that was done about it,
/// each a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListExchanges {
    /// The session, by the beginning of its id; the last one of the folder when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder that is worked in.
    pub folder: String,
}

request!(ListExchanges => SessionHistory, "sessions.history", Get "/sessions/{session}/history", Read, repeatable);

/// The exchanges of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionHistory {
    /// The session.
    pub session_id: SessionId,
    /// The repository, for `git --git-dir`.
    pub repository: String,
    /// The exchanges, oldest first.
    pub exchanges: Vec<Exchange>,
}

/// What a person said, and all that was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exchange {
    /// The name of its commit.
    pub id: String,
    /// The commit before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Its number in the conversation, from 1.
    pub number: u64,
    /// What the person said, in one line.
    pub message: String,
    /// When it came to its end.
    #[schemars(with = "String")]
    pub ts: Timestamp,
    /// Whether it was gone back over, so that it is no part of the conversation.
    #[serde(default)]
    pub rewound: bool,
    /// The checkpoint that it left the files at; absent where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

/// Lists the sessions that are kept in the repository of checkpoints of a folder. Only who may manage names a store with
/// `from`, which can lie anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListKeptSessions {
    /// The folder that is worked in.
    pub folder: String,
    /// Another store of checkpoints than the folder's own, such as one of a backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

request!(ListKeptSessions => KeptSessions, "sessions.restorable", Get "/sessions/restorable", Read, repeatable);

/// The sessions that are kept in a repository of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptSessions {
    /// The repository, for `git --git-dir`.
    pub repository: String,
    /// The sessions, the one used last first.
    pub sessions: Vec<KeptSession>,
}

/// A session that is kept in a repository of checkpoints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptSession {
    /// Its id.
    pub session_id: SessionId,
    /// How many exchanges its conversation has.
    pub exchanges: u64,
    /// What the person said last, in one line.
    pub message: String,
    /// When its last exchange came to its end.
    #[schemars(with = "String")]
    pub ts: Timestamp,
    /// Whether it is in the list of sessions.
    pub here: bool,
}

/// Makes a session out of what is kept of it in the repository of checkpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RestoreSession {
    /// The session, by a part of its id; or the beginning of the name of a commit: then up to that exchange.
    pub which: String,
    /// The folder that is worked in.
    pub folder: String,
    /// Another store of checkpoints than the folder's own, such as one of a backup.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Whether the session goes on in that folder, and not in its own.
    pub moves: bool,
    /// Whether a session that is here already comes in a second time.
    pub again: bool,
}

request!(RestoreSession => ImportedSession, "sessions.restore", Post "/sessions/restore", Manage, once);
