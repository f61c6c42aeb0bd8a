//! What an agent is given instead of doing it itself.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::{ErrorCode, EventBody, SessionId, TurnId};
use neco_safety::policy::Telling;

/// Why an event could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SinkError {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, for a person.
    pub message: String,
}

/// Where an agent's events go: into the log, and from there to every window.
pub trait EventSink: Send + Sync {
    /// Records an event that may reach the disk a little later.
    fn emit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>>;

    /// Records an event; ready when it and everything before it is on the disk.
    fn commit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>>;
}

/// Where rules are kept that a person allowed with "always".
pub trait RuleBook: Send + Sync {
    /// Where that is, as it is shown before the person decides.
    fn file(&self) -> String;

    /// Keeps a rule, as the text of a policy file.
    fn keep(&self, rule: String) -> BoxFuture<'_, io::Result<()>>;
}

/// Keeps the states of the workspace, so that what an agent does can be undone. It tells of them itself, and
/// of what it could not keep: the work goes on either way.
pub trait Checkpointer: Send + Sync {
    /// Keeps the workspace before the first call of a turn that writes or runs something; `label` is that call
    /// in a few words. Begins at once; ready when it is done, or can't be.
    fn before(&self, turn: Option<TurnId>, label: String) -> BoxFuture<'static, ()>;

    /// Keeps it after such a turn. Begins at once; nobody waits for it.
    fn after(&self, turn: Option<TurnId>);

    /// Ready when nothing is under way any more.
    fn settled(&self) -> BoxFuture<'_, ()>;

    /// The state that was kept last before a turn; nothing if none could be.
    fn way_back(&self) -> Option<WayBack>;
}

/// A state of the workspace that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayBack {
    /// The session that kept it.
    pub session: SessionId,
    /// Which state it is.
    pub rev: String,
}

/// Finds the rules files of folders below the workspace, which hold from when their folder is first touched.
pub trait FolderRules: Send + Sync {
    /// What is to be told now that something was touched; nothing when there is nothing new.
    fn touched(&self, touch: RulesTouch) -> BoxFuture<'static, Option<FoundRules>>;
}

/// What was touched, and what is known already.
#[derive(Clone, Debug, Default)]
pub struct RulesTouch {
    /// Files and folders; relative ones are the workspace's.
    pub paths: BTreeSet<PathBuf>,
    /// Folders that were looked at before.
    pub looked: Arc<BTreeSet<PathBuf>>,
    /// Files that were told before.
    pub told: Arc<BTreeSet<String>>,
    /// Tokens that there is room for.
    pub room: u64,
}

/// Rules files of folders that were touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundRules {
    /// The folders that were looked at.
    pub looked: Vec<PathBuf>,
    /// The files whose rules are told, relative to the workspace.
    pub files: Vec<String>,
    /// The files that were not read, relative to the workspace: the notices say why.
    pub unread: Vec<String>,
    /// What the model is told of all of them; empty when there are none.
    pub text: String,
    /// What the person should know of them.
    pub notices: Vec<String>,
}

/// Finds pieces of files that fit what a person says.
pub trait RequestFiles: Send + Sync {
    /// Those that fit best, the best first; nothing when none fits well, or finding any would take long.
    fn fitting(&self, wish: PiecesWish) -> BoxFuture<'static, Vec<FilePiece>>;
}

/// What pieces are wanted for.
#[derive(Clone, Debug)]
pub struct PiecesWish {
    /// What the person wrote.
    pub request: String,
    /// Judges which files may be told.
    pub telling: Telling,
    /// Files that the model has something of already, relative to the workspace.
    pub has: BTreeSet<String>,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePiece {
    /// The file, relative to the workspace.
    pub path: String,
    /// Its first line, counted from one.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// What stands there.
    pub text: String,
}

/// A clock that only goes forward, for durations.
/// ```
/// use std::time::Duration;
///
/// use neco_agent::Clock;
///
/// /// A clock that stands still.
/// struct Stopped;
///
/// impl Clock for Stopped {
///     fn now(&self) -> Duration {
///         Duration::ZERO
///     }
/// }
/// # assert_eq!(Stopped.now(), Duration::ZERO);
/// ```
pub trait Clock: Send + Sync {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;
}
