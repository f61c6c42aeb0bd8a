//! The sessions there are.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller::Scope;
use super::request::{Request, Route, Verb};
use crate::event::{ForkedFrom, TitleSource};
use crate::ids::SessionId;

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
    /// Whether it is told how each stands.
    pub states: bool,
    /// Whether it is told how much room each takes.
    pub sizes: bool,
}

impl Default for ListSessions {
    fn default() -> Self {
        Self { folder: None, since: None, limit: 50, states: false, sizes: false }
    }
}

impl Request for ListSessions {
    type Answer = SessionPage;

    const ROUTE: Route =
        Route { name: "sessions.list", verb: Verb::Get, path: "/sessions", scope: Scope::Read, repeatable: true };
}

/// Sessions of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionRow>,
    /// How many more there are.
    #[serde(default)]
    pub more: usize,
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
    /// The session, by the beginning of its id.
    pub session: String,
    /// Before which message, by its number or id; after everything that was said when that is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What the fork is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Request for ForkSession {
    type Answer = ForkedSession;

    const ROUTE: Route = Route {
        name: "sessions.fork",
        verb: Verb::Post,
        path: "/sessions/{session}/fork",
        scope: Scope::Work,
        repeatable: false,
    };
}

/// A fork that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Where it was forked from.
    pub forked_from: Option<ForkedFrom>,
    /// The bytes that would go with it, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How it stands, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<SessionState>,
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
}
