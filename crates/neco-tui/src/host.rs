//! What a window needs that neither a session nor the program gives: what only a terminal has.
//!
//! Nothing here is waited for by whoever reads the keys: every answer comes back to the window when it is there.

use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::history::FileDiff;
use neco_proto::app::rules::GivenRules;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::NodeState;
use neco_proto::{Attachment, Client, Command, Diff, Mode, SessionId};
use neco_view::setting::Setting;
use neco_view::slash::Outside;
use serde_json::Value;
use tokio::sync::Notify;

/// What stands around a window: whoever opens sessions, an editor, a clipboard, a shell, a history. What has a default
/// can be done without: the window says then that it is not there.
pub trait Host: Send + Sync {
    /// Opens a session, or makes one.
    fn open(&self, wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>>;

    /// A session that was opened is on the screen from now on, in place of the one before it.
    fn shown(&self, _client: &Arc<dyn Client>) {}

    /// Ends a session that was opened; ready when everything is written.
    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, ()>;

    /// The folder that the session on the screen works in.
    fn folder(&self) -> String;

    /// The person's home folder, which is shown as `~`.
    fn home(&self) -> PathBuf {
        PathBuf::from("/")
    }

    /// The rules that this window was opened with.
    fn given(&self) -> GivenRules {
        GivenRules::default()
    }

    /// The file that this process logs to when it is told to.
    fn log_file(&self) -> String {
        String::new()
    }

    /// Lets the person change a text in their editor, which has the terminal meanwhile; none when it stays as it is.
    fn edit_text(&self, _text: String) -> BoxFuture<'_, Result<Option<String>, AppError>> {
        async { Ok(None) }.boxed()
    }

    /// The same for the arguments of a call of this tool.
    fn edit_call(&self, _tool: String, _arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, AppError>> {
        async { Ok(None) }.boxed()
    }

    /// Lets the person change a file in their editor, which has the terminal meanwhile; whether it is another one now.
    fn edit_file(&self, _file: String) -> BoxFuture<'_, Result<bool, AppError>> {
        absent("there is no editor here")
    }

    /// Tells an editor that has the terminal to end: the process is about to. What it has saved comes back.
    fn end_editor(&self) {}

    /// What was written in earlier windows, oldest first.
    fn history(&self) -> Vec<String> {
        Vec::new()
    }

    /// Keeps what was written; is not to wait for a disk.
    fn remember(&self, _text: &str) {}

    /// What was being written in a session when its last window was killed. May block.
    fn draft(&self, _session: SessionId) -> Option<String> {
        None
    }

    /// Keeps what is being written in a session; an empty text takes it away. Is not to wait for a disk.
    fn keep_draft(&self, _session: SessionId, _text: String) {}

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

    /// Runs a command line, and tells of its output as it comes; its exit code, if it has one. Dropping the future kills
    /// the command.
    fn shell(&self, _command: String, _of: LineOf, _output: Printed) -> BoxFuture<'_, Result<Option<i32>, AppError>> {
        absent("commands can't be run here")
    }

    /// Has the session on the screen go on in the background, once what runs in it is over, or `hurry` is told; what the
    /// person is told of that. Whoever stops waiting has it go on here.
    fn detach<'a>(&'a self, _hurry: &'a Notify) -> BoxFuture<'a, Result<String, AppError>> {
        absent("nothing works in the background here")
    }

    /// A picture; none when there is none.
    fn image(&self, _source: ImageSource) -> BoxFuture<'_, Result<Option<Attachment>, AppError>> {
        absent("pictures can't be read here")
    }

    /// Writes a session to the file that is named behind `/export`; where that is.
    fn export(&self, _session: SessionId, _argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        absent("nothing can be written here")
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

/// Who wrote a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineOf {
    /// The person, who need not be asked.
    Person,
    /// A file of commands: the rules hold, in the mode of the session, and nobody is asked.
    File(Mode),
}

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

/// A session in a list. What is not known of it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How its last work stands, and whether that waits for an answer.
    pub work: Option<(NodeState, bool)>,
    /// How long ago it was used, in words.
    pub when: String,
    /// The branch that it works on.
    pub branch: String,
    /// How much was said, in words.
    pub messages: String,
    /// What it cost, in words.
    pub cost: String,
    /// Its folder, where several are listed.
    pub folder: String,
    /// What kind it is of, in a few words.
    pub about: String,
}

/// What can be done to a session of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionOrder {
    /// A second one is made that goes on from its end.
    Fork,
    /// It is removed for good.
    Delete,
}

/// A call as the person changed it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edited {
    /// Its arguments now.
    pub arguments: Value,
    /// The change that it would make, as far as that can be told.
    pub diff: Vec<Diff>,
}

/// A provider that takes a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderEntry {
    /// Its name.
    pub name: String,
    /// Whether it has one.
    pub about: String,
}

/// A model or a group in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEntry {
    /// What `/model` takes.
    pub name: String,
    /// What it is, in a few words: what a group asks, what a model is able to.
    pub about: String,
    /// How much fits into a request; empty where that is not known.
    pub context: String,
    /// What a million tokens cost, in and out; empty where that is not known.
    pub price: String,
    /// Whether it is a group.
    pub is_group: bool,
}

/// A permission rule in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleEntry {
    /// What takes it away; none for a rule that can't be taken away here.
    pub id: Option<String>,
    /// The rule as people write it.
    pub rule: String,
    /// Where it comes from.
    pub from: String,
    /// Where it stands in the list.
    pub group: RuleGroup,
}

/// The rules that stand together in a list, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuleGroup {
    /// Those that were allowed for this session.
    Session,
    /// Those of files and flags.
    #[default]
    Written,
    /// Those that come with Neco.
    BuiltIn,
}

/// What came of a command after a slash.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandOutcome {
    /// Markdown for the person.
    Show(String),
    /// Text for the person as a program prints it.
    Print(String),
    /// What the session changed in files.
    Changes(Vec<FileDiff>),
    /// What a setting can be set to, with how it is set now, and text about that as a program prints it.
    Choose(Setting, String, String),
    /// Things that are there, each of which can be looked at.
    List(Listed),
    /// One line for the person.
    Say(String),
    /// This is to be said to the agent.
    Prompt(String),
    /// The session is to be told this.
    Send(Command),
    /// The person is asked whether this is to be done.
    Ask(Agreement),
    /// Another session is wanted that goes on from what is on the screen, and this is to be said of it.
    GoOn(Wanted, String),
}

/// Things that are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What is written into the field that searches them.
    pub title: String,
    /// Each by its name, with how it stands.
    pub rows: Vec<(String, String)>,
    /// What shows one of them, with its name behind it.
    pub shows: Outside,
    /// What is wrong, for the person.
    pub warnings: Vec<String>,
    /// All of it as a program prints it.
    pub text: String,
}

/// What a person is asked before something is done that makes agents freer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// The question.
    pub question: String,
    /// What a yes would mean.
    pub means: String,
    /// What is carried out then, with what stands behind it.
    pub yes: (Outside, String),
}

/// Where a picture is to come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// The clipboard.
    Clipboard,
    /// A file, as it was written or dropped.
    File(String),
}
