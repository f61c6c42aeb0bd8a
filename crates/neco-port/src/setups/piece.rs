//! What a set-up is made of.

use std::path::PathBuf;

use neco_proto::app::mcp::ServerScope;
use neco_proto::app::port::Program;
use neco_proto::app::settings::NewSetting;
use neco_proto::app::setups::SetupKind;
use neco_proto::event::HookEvent;
use serde_json::{Map, Value};

/// A piece of a set-up, and what it is here.
#[derive(Clone, Debug)]
pub struct Piece {
    /// What it is.
    pub kind: SetupKind,
    /// What it is called.
    pub name: String,
    /// The file that it is written in.
    pub from: PathBuf,
    /// What is to be done with it.
    pub take: Take,
    /// What is different about it here, or what is to be known of it.
    pub words: Vec<String>,
}

/// Whose a piece is, and so where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The person's own: it goes to the folder of their settings.
    Person,
    /// A project's: it goes to `.neco` in it, and counts once that is trusted.
    Project,
}

impl Level {
    /// Whose settings an MCP server is written in.
    #[must_use]
    pub fn scope(self) -> ServerScope {
        match self {
            Self::Person => ServerScope::User,
            Self::Project => ServerScope::Project,
        }
    }
}

/// What is to be done with a piece.
#[derive(Clone, Debug)]
pub enum Take {
    /// These settings are written, as far as they are not set.
    Set(Vec<NewSetting>),
    /// An MCP server is added.
    Server(Level, Map<String, Value>),
    /// A hook is added.
    Hook(NewHook),
    /// A rule is added to a policy file, as its text.
    Rule(Level, String),
    /// A file is made.
    File(Level, NewFile),
    /// The skill in this folder is copied.
    Skill(Level, PathBuf),
    /// It is remembered.
    Remember(NewMemory),
    /// Its sessions can be taken in.
    Sessions(Program),
    /// A plugin that is on there: the person adds it, after seeing what it brings.
    Plugin(WantedPlugin),
    /// A marketplace that plugins come from, by its name, with where it is.
    Marketplace(String, String),
    /// Neco reads it where it is.
    InPlace,
    /// It is so here anyway.
    Already,
    /// The person has to do something themselves.
    Yours,
    /// It has no meaning here.
    NotSupported,
    /// It could not be read.
    Failed,
}

/// A plugin that another agent has on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPlugin {
    /// Its name.
    pub plugin: String,
    /// The list that it stands in.
    pub marketplace: String,
    /// Where that is, as it is named to add it; none where nothing says it.
    pub from: Option<String>,
    /// Whose wish it is: a project can't install.
    pub level: Level,
}

/// A hook of the person's.
#[derive(Clone, Debug, PartialEq)]
pub struct NewHook {
    /// When it runs.
    pub event: HookEvent,
    /// The tools that it is for; empty for all.
    pub matcher: String,
    /// The command line.
    pub command: String,
    /// Seconds until it is killed.
    pub timeout: Option<f64>,
}

/// A text that is kept in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Where, below Neco's folder.
    pub path: PathBuf,
    /// What is in it.
    pub content: String,
}

/// Something that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMemory {
    /// What it is about.
    pub title: String,
    /// All of it.
    pub content: String,
    /// The folder that it is about; none where it holds everywhere.
    pub folder: Option<PathBuf>,
}
