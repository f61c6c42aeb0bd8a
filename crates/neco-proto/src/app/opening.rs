//! Sessions as they are opened, and made.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::AppError;
use super::rules::GivenRules;
use crate::client::Client;
use crate::ids::{CallId, Seq, SessionId};
use crate::mode::{ApprovalMode, Mode};

/// Opens a session or makes one, with what belongs to this opening and not to the folder that is worked in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenSession {
    /// Which one.
    pub which: WhichSession,
    /// The folder that is worked in; a session that goes on has its own.
    pub folder: String,
    /// Whether the folder was chosen, and is not just where somebody is.
    pub chose_folder: bool,
    /// Rules of this opening, and folders that are open in it.
    pub given: GivenRules,
    /// The only folder in which what this loosens holds; everywhere where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loosens_in: Option<String>,
    /// Only these tools exist; empty means all.
    pub tools: Vec<String>,
    /// The model or group that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The generation that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u8>,
    /// When the person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalMode>,
    /// Most turns for one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Most US dollars that it may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Most tokens that it may use, input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Who the agent is, for its system prompt; the agent as it comes where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A session with the model [`CALLER_MODEL`](super::tools::CALLER_MODEL) that this process has open in the folder,
    /// by its id. The new one, which has that model too, is given the same tools: they know the same files and
    /// processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// MCP servers of this opening, besides those of the folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<GivenServer>,
    /// Settings of this opening, as `-c` has them; they outrank those of files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// The variables that commands are given, in place of those of the process that opens the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
    /// The editor whose files the session reads and writes, where one offers them; it is of this process, and no wire
    /// carries it.
    #[serde(skip)]
    #[schemars(skip)]
    pub editor: Option<Editor>,
    /// Whether a person is there.
    pub attended: bool,
    /// Whether more than a single request is meant.
    pub interactive: bool,
}

impl OpenSession {
    /// Whether it says how the session is to work: that belongs to an opening, and does not hold for one that is open
    /// already.
    #[must_use]
    pub fn says_how(&self) -> bool {
        // Which session, where it works and who is there is known of one that is open, too.
        let Self { which, folder, chose_folder, loosens_in, environment, attended, interactive, .. } = self.clone();
        let plain =
            Self { which, folder, chose_folder, loosens_in, environment, attended, interactive, ..Self::default() };
        *self != plain
    }
}

/// The variables that commands are given; no secret is among them.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment(pub BTreeMap<String, String>);

/// Without the variables: what they say is nobody's business.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

/// An MCP server of one opening.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GivenServer {
    /// What it is called.
    pub name: String,
    /// The server, as settings have it: `{"command": "npx", "args": ["-y", "server"]}`, `{"url": "https://…"}`.
    pub server: Value,
}

/// Without the server: its variables and headers may be secrets.
impl fmt::Debug for GivenServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GivenServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What ends a process and everything that it started.
pub type Kill = Arc<dyn Fn() + Send + Sync>;

/// The files of an editor: what is typed there and not saved is what is read, and what is written lands there.
///
/// It is asked for paths that were resolved and judged on this machine, by threads that may wait; what it can't answer is
/// read from the disk, and written there.
pub trait EditorFiles: Send + Sync {
    /// Whether it tells what stands in files.
    fn reads(&self) -> bool;

    /// Whether it takes what is to stand in files.
    fn writes(&self) -> bool;

    /// Other names that it may have for a file, those it would use itself first: it opened the folder through a link.
    fn names(&self, _path: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether a file lies in a folder that it opened, where it has the last word.
    fn has_folder_of(&self, _path: &Path) -> bool {
        false
    }

    /// The whole text of a file.
    fn read(&self, path: PathBuf) -> BoxFuture<'static, Result<String, AppError>>;

    /// Makes a text the whole text of a file, and saves it. Where it does not want to, the trouble is
    /// [`Trouble::NotAllowed`](super::Trouble::NotAllowed). Where it may still do so, it is
    /// [`Trouble::InUse`](super::Trouble::InUse): whoever wrote the file elsewhere would lose that.
    fn write(&self, path: PathBuf, text: String) -> BoxFuture<'static, Result<(), AppError>>;

    /// A call runs a process, which `kill` ends: the person may want that where the editor shows it.
    fn runs(&self, _call: &CallId, _kill: Kill) {}
}

/// An editor, as an opening carries it.
#[derive(Clone)]
pub struct Editor(pub Arc<dyn EditorFiles>);

impl fmt::Debug for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Editor").finish_non_exhaustive()
    }
}

impl PartialEq for Editor {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Which session is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhichSession {
    /// A new one.
    #[default]
    New,
    /// The last one of the folder.
    Latest,
    /// The one whose id begins so.
    Id(String),
}

/// A session that is open, until it is handed back with [`close`](super::App::close).
#[derive(Clone)]
pub struct OpenedSession {
    /// The session.
    pub id: SessionId,
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// Where it works.
    pub folder: String,
    /// The process that had it open already; nothing when it was opened for this.
    pub owner: Option<u32>,
    /// Its last event before: what came of opening it comes after that.
    pub since: Seq,
    /// What the person should know.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_an_opening_is_told_from_the_rest() {
        let plain = OpenSession {
            which: WhichSession::Latest,
            folder: "/a".to_owned(),
            chose_folder: true,
            attended: true,
            interactive: true,
            ..OpenSession::default()
        };
        assert!(!plain.says_how() && !OpenSession::default().says_how());
        assert!(OpenSession { model: Some("a/b".to_owned()), ..plain.clone() }.says_how());
        assert!(OpenSession { max_turns: Some(3), ..plain.clone() }.says_how());
        assert!(OpenSession { tools: vec!["grep".to_owned()], ..plain }.says_how());
    }
}
