//! What is to be done outside of the window's state, and what came of it.

use neco_proto::app::AppError;
use neco_proto::app::keys::NewKey;
use neco_proto::app::mcp_use::ResourceList;
use neco_proto::app::settings::SettingList;
use neco_proto::{
    AgentId, Answer, Attachment, CallId, ClientError, Command, Event, MessageId, Query, QuestionId, RewindPoint, Seq,
};
use neco_view::slash::{Custom, Outside};
use serde_json::Value;

use crate::custom_commands::SaidByCommand;
use crate::host::{
    CommandOutcome, Edited, ImageSource, ModelEntry, ProviderEntry, RuleEntry, SessionEntry, SessionOrder, Wanted,
};
use crate::input::Candidate;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell the session.
    Send(Command),
    /// Ask the session.
    Ask(Query),
    /// Find the files of the workspace, and the resources of MCP servers.
    Files,
    /// Find the branch.
    Branch,
    /// List the commands that the person or the folder brought along, for one that is not known if it is named.
    Commands(Option<String>),
    /// List the sessions of this folder.
    Sessions,
    /// List those of all folders.
    AllSessions,
    /// Look into a session that is chosen in a list.
    LookInto(String),
    /// Do something to the session with this id.
    ToSession(SessionOrder, String),
    /// List the models.
    Models,
    /// List the providers that take a key.
    Providers,
    /// Find out whether a key of this provider could be kept.
    LookForKey(String),
    /// Keep a key of this provider, if it takes it.
    KeepKey(String, NewKey),
    /// List the settings.
    Settings,
    /// Let the person change a file in their editor.
    EditFile(String),
    /// List the permission rules.
    Rules,
    /// Add a permission rule.
    AddRule(String),
    /// Take a permission rule away.
    DropRule(String),
    /// Open another session.
    Open(Wanted),
    /// Open another session that goes on from what is on the screen.
    GoOn(Wanted),
    /// Read what another agent did.
    Look(AgentId),
    /// Find out what may follow a command: the line up to what is being written.
    Arguments(String),
    /// Let the host carry out a command after a slash.
    Outside(Outside, String),
    /// Find out what a command of the person's own says.
    Custom(String, String),
    /// Run a command line of the person.
    Shell(String),
    /// Stop it.
    StopShell,
    /// Have the session go on without the window; with `true` what runs is not waited for.
    Detach(bool),
    /// Keep a note for later sessions.
    Keep(String),
    /// Find a picture.
    Image(ImageSource),
    /// Let the person write in their editor.
    EditPrompt(String),
    /// Let the person change the arguments of a call of this tool that waits.
    EditCall(CallId, String, Value),
    /// Let the person change a plan that waits.
    EditPlan(QuestionId, String),
    /// Keep what was sent for later windows.
    Remember(String),
    /// Put a text into the clipboard.
    Copy(String),
    /// Tell somebody who looks elsewhere.
    Notify(String),
    /// Draw everything anew.
    Redraw,
    /// Stop the process until the shell goes on with it.
    Suspend,
    /// End.
    Quit,
}

/// What came of it.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "each is handled as it comes, and none is kept")]
pub enum News {
    /// The session did not do it; what was to be said comes back.
    Refused(ClientError, Option<Unsent>),
    /// The session did not do what is written so after a slash; it comes back to be corrected.
    NotRun(ClientError, String),
    /// These were not taken back: the agent was given them before.
    NotTakenBack(Vec<MessageId>),
    /// The session answered.
    Answered(Answer),
    /// What another agent did, up to an event.
    Looked(AgentId, Vec<Event>, Seq),
    /// What may follow a command, with the line up to it.
    Arguments(String, Vec<Candidate>),
    /// The files of the workspace.
    Files(Vec<String>),
    /// The resources of MCP servers.
    Resources(ResourceList),
    /// The branch.
    Branch(Option<String>),
    /// What the folder brings: how many files are not committed, and what agents know from the beginning.
    Project(Option<usize>, String),
    /// The commands that the person or the folder brought along, and the line that was not known before.
    Commands(Vec<Custom>, Option<String>),
    /// The sessions of this folder.
    Sessions(Result<Vec<SessionEntry>, AppError>),
    /// Those of all folders.
    AllSessions(Result<Vec<SessionEntry>, AppError>),
    /// What was said in a session that is chosen in a list.
    LookedInto(String, Vec<RewindPoint>),
    /// A session was made or removed.
    SessionsChanged(Result<String, AppError>),
    /// The models.
    Models(Result<Vec<ModelEntry>, AppError>),
    /// The providers that take a key.
    Providers(Result<Vec<ProviderEntry>, AppError>),
    /// A key of this provider can be kept, or not.
    LookedForKey(Result<String, AppError>),
    /// A key of this provider was kept, or not.
    KeptKey(String, Result<String, AppError>),
    /// The settings.
    Settings(Result<SettingList, AppError>),
    /// The person changed a file, or left it as it is.
    FileEdited(Result<bool, String>),
    /// The permission rules.
    Rules(Result<Vec<RuleEntry>, AppError>),
    /// A permission rule was added or taken away.
    RuleChanged(Result<String, AppError>),
    /// The host carried something out.
    Outside(Result<CommandOutcome, AppError>),
    /// What a command of the person's own says.
    Custom(Result<SaidByCommand, AppError>),
    /// A line of a command of the person's own begins.
    LineBegins(String),
    /// So many lines of what it printed were left out, and this it printed since.
    LinePrinted(usize, String),
    /// No line runs any more.
    LinesEnded,
    /// The person's command printed something.
    Printed(String),
    /// So many lines of what it prints next were left out.
    LeftOut(usize),
    /// The person's command is over.
    ShellEnded(Result<Option<i32>, String>),
    /// The session goes on without the window, or does not.
    Detached(Result<String, AppError>),
    /// A note was kept.
    Kept(Result<String, AppError>),
    /// A picture, and what to write when there is none.
    Image(Result<Option<Attachment>, String>, Option<String>),
    /// What was written in the editor.
    Prompt(Result<Option<String>, String>),
    /// The arguments of a call that were written in the editor.
    Call(CallId, Result<Option<Edited>, String>),
    /// The plan that was written in the editor.
    Plan(QuestionId, Result<Option<String>, String>),
    /// The answer to a question was not taken.
    NotDecided(ClientError, Box<Command>),
    /// The session was asked something and did not say it.
    Unanswered(ClientError),
    /// What the status line says; none when whoever makes it failed.
    Status(Option<String>),
    /// What was being done ended with a defect of Neco.
    Broken(&'static str),
}

/// A message that was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsent {
    /// What was written.
    pub text: String,
    /// Its pictures.
    pub pictures: Vec<Attachment>,
}

impl News {
    /// Whether it is of no use once another session is on the screen.
    pub fn is_of_session(&self) -> bool {
        match self {
            Self::Answered(_)
            | Self::Looked(..)
            | Self::NotTakenBack(_)
            | Self::Sessions(_)
            | Self::AllSessions(_)
            | Self::LookedInto(..)
            | Self::Models(_)
            | Self::Rules(_)
            | Self::Settings(_)
            | Self::Providers(_)
            | Self::LookedForKey(_)
            | Self::Outside(_)
            | Self::Custom(_)
            | Self::Arguments(..)
            | Self::Call(..)
            | Self::Plan(..)
            | Self::Files(_)
            | Self::Resources(_)
            | Self::Branch(_)
            | Self::Project(..)
            | Self::Commands(..) => true,
            Self::Refused(..)
            | Self::NotRun(..)
            | Self::NotDecided(..)
            | Self::Unanswered(_)
            | Self::RuleChanged(_)
            | Self::SessionsChanged(_)
            | Self::KeptKey(..)
            | Self::FileEdited(_)
            | Self::LineBegins(_)
            | Self::LinePrinted(..)
            | Self::LinesEnded
            | Self::Printed(_)
            | Self::LeftOut(_)
            | Self::Broken(_)
            | Self::ShellEnded(_)
            | Self::Detached(_)
            | Self::Kept(_)
            | Self::Image(..)
            | Self::Prompt(_)
            | Self::Status(_) => false,
        }
    }
}
