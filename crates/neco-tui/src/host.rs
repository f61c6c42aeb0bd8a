//! What a window needs that neither a session nor the program gives: files by name, an editor, a history, a shell.
//!
//! Nothing here is waited for by whoever reads the keys: every answer comes back to the window when it is there.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Attachment, Client, Command, Diff};
use neco_view::slash::{Custom, Outside};
use serde_json::Value;

/// What stands around a window. Errors are for a person. What has a default can be done without: the
/// window says then that it is not there.
pub trait Host: Send + Sync {
    /// Opens a session, or makes one.
    fn open(&self, wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, String>>;

    /// Ends a session that was opened; ready when everything is written.
    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, ()>;

    /// The folder that the session on the screen works in.
    fn folder(&self) -> String;

    /// The files of the workspace, as a person would name them.
    fn files(&self) -> BoxFuture<'_, Vec<String>>;

    /// The branch of the workspace.
    fn branch(&self) -> BoxFuture<'_, Option<String>>;

    /// Lets the person change a text in their editor, which has the terminal meanwhile; none when it stays as it is.
    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, String>>;

    /// The same for the arguments of a call of this tool.
    fn edit_call(&self, tool: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, String>>;

    /// Tells an editor that has the terminal to end: the process is about to. What it has saved comes back.
    fn end_editor(&self) {}

    /// What was written in earlier windows, oldest first.
    fn history(&self) -> Vec<String>;

    /// Keeps what was written; is not to wait for a disk.
    fn remember(&self, text: &str);

    /// What the person should know of what was done for them lately, such as opening a session.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// How this window goes on with the session on the screen when another process had it open and is gone, and what
    /// the person is told; nothing when it was this one's.
    fn successor(&self) -> Option<(Wanted, String)> {
        None
    }

    /// What is said when the session ends although the person did not leave it, such as when the process that had
    /// it open is gone; none when that is no surprise.
    fn ended(&self) -> Option<String> {
        Some("the session has ended".to_owned())
    }

    /// The models and groups that can be asked.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelEntry>, AppError>> {
        absent("models can't be listed here")
    }

    /// The permission rules that hold, with where they come from.
    fn rules(&self) -> BoxFuture<'_, Result<Vec<RuleEntry>, AppError>> {
        absent("rules can't be listed here")
    }

    /// Adds a rule as a person writes it, such as `allow bash(cargo test *)`; what was kept and where, in words.
    fn add_rule(&self, _rule: String) -> BoxFuture<'_, Result<String, AppError>> {
        absent("rules can't be changed here")
    }

    /// Takes a rule away, by its id; what was done, in words.
    fn drop_rule(&self, _id: String) -> BoxFuture<'_, Result<String, AppError>> {
        absent("rules can't be changed here")
    }

    /// Runs a command line of the person, and tells of its output as it comes; its exit code, if it has one.
    /// Dropping the future kills the command.
    fn shell(&self, _command: String, _output: Printed) -> BoxFuture<'_, Result<Option<i32>, String>> {
        async { Err("commands can't be run here".to_owned()) }.boxed()
    }

    /// Keeps a note for later sessions; where, in words.
    fn keep(&self, _note: String) -> BoxFuture<'_, Result<String, AppError>> {
        absent("nothing can be kept here")
    }

    /// A picture; none when there is none.
    fn image(&self, _source: ImageSource) -> BoxFuture<'_, Result<Option<Attachment>, String>> {
        async { Err("pictures can't be read here".to_owned()) }.boxed()
    }

    /// Commands after a slash that the person or the folder brought along.
    fn commands(&self) -> BoxFuture<'_, Vec<Custom>> {
        async { Vec::new() }.boxed()
    }

    /// What such a command says to the agent.
    fn custom(&self, _name: String, _argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        absent("that command is not there")
    }

    /// Carries out a command after a slash that a session can't carry out by itself. `client` is the session on
    /// the screen. The window never asks for those it has lists for: sessions, models, permissions.
    fn outside(
        &self,
        _client: Arc<dyn Client>,
        _what: Outside,
        _argument: String,
    ) -> BoxFuture<'_, Result<CommandOutcome, AppError>> {
        absent("that is not there in this window")
    }

    /// Whether the person has a status line of their own.
    fn has_status(&self) -> bool {
        false
    }

    /// What it says, from how the session stands; none when whoever makes it failed.
    fn status(&self, _standing: Value) -> BoxFuture<'_, Option<String>> {
        async { None }.boxed()
    }
}

fn absent<T: Send + 'static>(words: &'static str) -> BoxFuture<'static, Result<T, AppError>> {
    async move { Err(AppError::new(Trouble::NotFound, words)) }.boxed()
}

/// Where a command's output goes, piece by piece.
pub type Printed = Arc<dyn Fn(String) + Send + Sync>;

/// A session that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A new one.
    New,
    /// The last one of this folder.
    Latest,
    /// The one whose id begins so.
    Id(String),
}

/// A session in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How long ago it was used, in words.
    pub when: String,
    /// More of it, in a few words: how long it is, its folder; may be empty.
    pub about: String,
}

/// Something that may follow a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// What is written.
    pub text: String,
    /// What it is, in a few words.
    pub about: String,
}

/// A call as the person changed it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edited {
    /// Its arguments now.
    pub arguments: Value,
    /// The change that it would make, as far as that can be told.
    pub diff: Vec<Diff>,
}

/// A model or a group in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEntry {
    /// What `/model` takes.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
}

/// A permission rule in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleEntry {
    /// What [`Host::drop_rule`] takes; none for a rule that can't be taken away here.
    pub id: Option<String>,
    /// The rule as people write it.
    pub rule: String,
    /// Where it comes from.
    pub from: String,
}

/// What came of a command after a slash.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandOutcome {
    /// Markdown for the person.
    Show(String),
    /// Text for the person as a program prints it.
    Print(String),
    /// One line for the person.
    Say(String),
    /// This is to be said to the agent.
    Prompt(String),
    /// This is to stand in the field.
    Fill(String),
    /// The session is to be told this.
    Send(Command),
    /// Another session is wanted.
    Open(Wanted),
    /// Another session is wanted that goes on from what is on the screen, and this is to be said of it.
    GoOn(Wanted, String),
    /// Everything is done.
    Done,
}

/// Where a picture is to come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// The clipboard.
    Clipboard,
    /// A file, as it was written or dropped.
    File(String),
}
