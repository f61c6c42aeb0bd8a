//! The sessions there are.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::AppError;
use super::request::{Watch, request};
use crate::event::{ForkedFrom, NodeState, TitleSource};
use crate::ids::{Seq, SessionId};
use crate::usage::Usage;

/// Lists sessions, the one used last first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListSessions {
    /// Only those that work in this folder, or in a worktree of its project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Only those used since.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
    /// Only those after the page that said so with [`SessionPage::next`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Whether it is told how each stands, what it used and which branch it has.
    pub states: bool,
    /// Whether it is told how much room each takes.
    pub sizes: bool,
}

impl Default for ListSessions {
    fn default() -> Self {
        Self { folder: None, since: None, limit: 50, cursor: None, states: false, sizes: false }
    }
}

request!(ListSessions => SessionPage, "sessions.list", Get "/sessions", Read, repeatable);

impl Watch for ListSessions {
    type Item = SessionRow;
}

/// Sessions of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionRow>,
    /// How many more there are.
    #[serde(default)]
    pub more: usize,
    /// The cursor of the page that follows, where there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How many there are that were not used since.
    #[serde(default)]
    pub older: usize,
    /// The folder above the one that was asked for whose sessions these are, since that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
}

/// Makes a second session that goes on from a point of one, without copying anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ForkSession {
    /// The session, by the beginning of its id; the last one of the folder when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder that is worked in.
    pub folder: String,
    /// Before which message, by its number or id; after everything that was said when that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What the fork is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

request!(ForkSession => ForkedSession, "sessions.fork", Post "/sessions/{session}/fork", Work, once);

/// A fork that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedSession {
    /// The fork.
    pub session: SessionRow,
    /// The message before which it begins; none when it has everything that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ForkPoint>,
    /// Whether it begins in the middle of a turn.
    #[serde(default)]
    pub in_a_turn: bool,
}

/// A message before which a fork begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkPoint {
    /// Its number among those that count; 0 when it no longer counts.
    pub number: u64,
    /// What was said.
    pub text: String,
}

/// Gives a session a title that no model replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RenameSession {
    /// The session, by the beginning of its id.
    pub session: String,
    /// What it is called from now on.
    pub title: String,
}

request!(RenameSession => SessionRow, "sessions.rename", Put "/sessions/{session}/title", Work, repeatable);

/// Removes sessions for good; what their forks have of them stays. When one is open none is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveSessions {
    /// The sessions, by the beginnings of their ids. All of them must be there.
    pub sessions: Vec<String>,
    /// Whether it is only told which ones would go.
    pub dry_run: bool,
}

request!(RemoveSessions => RemovedSessions, "sessions.remove", Delete "/sessions", Manage, once);

/// Removes sessions that nobody used for long. Those that are open, and what forks need of the ones that go, stay; states
/// of files that are older than the settings keep them go too, and so do worktrees that nobody needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PruneSessions {
    /// The folder that is worked in, whose settings say how long states of files are kept.
    pub folder: String,
    /// Whether only sessions of that folder go.
    pub here: bool,
    /// Only those last used before; without this and `keep` none goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub unused_since: Option<Timestamp>,
    /// The newest so many of each folder stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<usize>,
    /// No others than these, such as those that a person agreed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<SessionId>>,
    /// Whether it is only told which ones would go.
    pub dry_run: bool,
}

request!(PruneSessions => RemovedSessions, "sessions.prune", Post "/sessions/prune", Manage, once);

/// Sessions that were removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedSessions {
    /// The sessions, each with the bytes that go with it.
    pub sessions: Vec<SessionRow>,
    /// The bytes that are free now, or would be.
    pub freed_bytes: u64,
    /// For how many days states of files are kept, where sessions are pruned.
    #[serde(default)]
    pub keep_days: u32,
    /// The worktrees that were removed with them.
    #[serde(default)]
    pub worktrees: Vec<WorktreeRow>,
    /// Why it ended before all had gone that should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<AppError>,
}

/// Measures what is kept beside the sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeasureKept {
    /// The folder that is worked in, whose settings say how long states of files are kept.
    pub folder: String,
}

request!(MeasureKept => Kept, "sessions.measure_kept", Get "/sessions/kept", Read, repeatable);

/// What is kept beside the sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The bytes of states of files that a session can go back to.
    pub state_bytes: u64,
    /// The bytes of those that no session can go back to any more; any pruning removes them.
    pub orphan_bytes: u64,
    /// For how many days states of files are kept; older ones go when sessions are pruned.
    pub keep_days: u32,
    /// The worktrees of sessions.
    pub worktrees: Vec<WorktreeRow>,
}

/// A worktree of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRow {
    /// Its top folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// How it stands.
    pub state: WorktreeState,
}

/// How a worktree stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeState {
    /// Somebody works in it.
    InUse,
    /// What was done in it is merged.
    Merged,
    /// Nobody works in it, and it holds what is nowhere else.
    Left,
    /// It is gone.
    Removed,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Finds messages, tool results and titles that have all of some words, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SearchSessions {
    /// The words as a person types them.
    pub words: String,
    /// Only in sessions of this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Only what was said at this time or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// Only what was said before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub until: Option<Timestamp>,
    /// Only those after the page that said so with [`FoundPlaces::next`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many places at most.
    pub limit: usize,
}

impl Default for SearchSessions {
    fn default() -> Self {
        Self { words: String::new(), folder: None, since: None, until: None, cursor: None, limit: 20 }
    }
}

request!(SearchSessions => FoundPlaces, "sessions.search", Get "/sessions/search", Read, repeatable);

impl Watch for SearchSessions {
    type Item = FoundPlace;
}

/// Places where words were found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlaces {
    /// The places.
    pub places: Vec<FoundPlace>,
    /// The cursor of the page that follows, where there may be more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A place where words were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlace {
    /// The session.
    pub session_id: SessionId,
    /// The event; 0 for a title.
    pub seq: Seq,
    /// When it was said; for a title, when the session was last used.
    #[schemars(with = "String")]
    pub time: Timestamp,
    /// Who said it.
    pub role: FoundRole,
    /// The session's title.
    pub title: String,
    /// The session's folder.
    pub cwd: String,
    /// The words around it in one line; `…` where something was left out.
    pub text: String,
    /// Where in `text` the words stand: the first byte of each and the one after its last.
    pub marks: Vec<[usize; 2]>,
}

/// Who said what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundRole {
    /// It is the title of the session.
    Title,
    /// The person.
    User,
    /// Neco in the person's place, or a hook.
    Neco,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
    /// Somebody whom only a newer version knows.
    #[serde(other)]
    Other,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// A few words about it; empty until the first message.
    pub title: String,
    /// Who made the title; none while there is none.
    pub title_by: Option<TitleSource>,
    /// The folder it works in.
    pub cwd: String,
    /// When it was made.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// When it was last used.
    #[schemars(with = "String")]
    pub updated: Timestamp,
    /// The number of its events, those it has from its parent among them.
    pub events: u64,
    /// How many messages of yours it has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<u64>,
    /// Whether it was opened for single requests alone, and never in a window.
    #[serde(default)]
    pub single: bool,
    /// Where it was forked from.
    pub forked_from: Option<ForkedFrom>,
    /// The bytes that would go with it, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How it stands, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SessionState>,
    /// How its last work stands or ended, where that was asked and something was worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<NodeState>,
    /// Whether that work waits for an answer of a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// What it used in all, where that was asked and the end of its log tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The branch that it works on, where that was asked and is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// A process has it open.
    Open,
    /// Its process ended in the middle of its work.
    Stopped,
    /// Nobody works in it.
    AtRest,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Lists the folders that sessions worked in, the one used last first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListRecentFolders {
    /// How many at most.
    pub limit: usize,
}

impl Default for ListRecentFolders {
    fn default() -> Self {
        Self { limit: 20 }
    }
}

request!(ListRecentFolders => RecentFolders, "sessions.folders", Get "/sessions/folders", Read, repeatable);

/// Folders that sessions worked in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecentFolders {
    /// The folders, the one used last first.
    pub folders: Vec<RecentFolder>,
}

/// A folder that sessions worked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecentFolder {
    /// The folder.
    pub folder: String,
    /// How many sessions it has.
    pub sessions: u64,
    /// When one of them was last used.
    #[schemars(with = "String")]
    pub updated: Timestamp,
    /// What that one is called.
    pub title: String,
    /// Whether the folder is there.
    pub is_there: bool,
}
