//! What commands ask for, and why a line asks for nothing.

use neco_proto::{ApprovalMode, Mode};

use crate::context_view::ContextView;
use crate::setting::Setting;

/// What a slash command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slash {
    /// What can be done here.
    Help,
    /// Another session.
    New,
    /// The session whose id begins so.
    Resume(String),
    /// Another mode.
    Mode(Mode),
    /// Another approval mode.
    Approval(ApprovalMode),
    /// Another model or group.
    Model(String),
    /// Another generation.
    Generation(u8),
    /// A shorter conversation; what the summary should pay attention to.
    Compact(Option<String>),
    /// What fills the context.
    Context(ContextView),
    /// What was used.
    Cost,
    /// The todo list.
    Todo,
    /// The plan.
    Plan,
    /// Back to an earlier message.
    /// A message's number or the name of a checkpoint may be behind it.
    Rewind(String),
    /// The last turn is taken back.
    Undo,
    /// What was taken back last comes forth again.
    Redo,
    /// Another title.
    Rename(String),
    /// The tree of agents.
    Tree,
    /// Everything that came of the last call.
    Expand,
    /// The command that runs goes on in the background.
    Background,
    /// The last answer, to the clipboard.
    Copy,
    /// Other colours; one of the choices of the row.
    Theme(String),
    /// The session goes on without this window; with `true` what runs is not waited for.
    Detach(bool),
    /// How this is set now, and what else there is.
    How(Setting),
    /// The end.
    Exit,
    /// What the session can't do by itself, and what was written behind it.
    Outside(Outside, String),
    /// A command of the person or of the folder, and what was written behind it.
    Custom {
        /// Its name.
        name: String,
        /// What was written behind it.
        argument: String,
    },
}

/// What is said where `/copy`, `/expand` and `/todo` have nothing to give.
pub const NO_ANSWER: &str = "No answer yet.";
/// See [`NO_ANSWER`].
pub const NO_CALL: &str = "Nothing to unfold.";
/// See [`NO_ANSWER`].
pub const NO_COMMAND: &str = "No command of the agent runs now.";
/// See [`NO_ANSWER`].
pub const NO_TODOS: &str = "The todo list is empty.";

/// What needs more than the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The sessions of this folder, to choose from.
    Sessions,
    /// The models, to choose from.
    Models,
    /// How much the model thinks; with a word behind it, as much as that says.
    Effort,
    /// A second session from here.
    Fork,
    /// The states of the workspace that were kept.
    Checkpoints,
    /// What the session changed in files.
    Diff,
    /// The commands in the background; with words behind it, the output or the end of one.
    Background,
    /// The agents that can be asked; with words behind it, what a person asks of one that works
    /// ([`crate::agent_ask`]).
    Agents,
    /// Workflows: those there are, and running one.
    Workflow,
    /// The values that all agents of the session share.
    State,
    /// What is remembered.
    Memory,
    /// The MCP servers; with a name behind it one of them, with a word before that what is done with it.
    Mcp,
    /// The hooks.
    Hooks,
    /// The skills; with a name behind it one of them.
    Skills,
    /// The plugins; with a name behind it one of them, with a word before that what is done with it.
    Plugins,
    /// The rules about what may happen, to look at and to take back.
    Permissions,
    /// What commands run in; with a level behind it, another one for this session.
    Sandbox,
    /// The same where that is freer, and the person has agreed.
    FreerSandbox,
    /// AGENTS.md of this folder, written by the agent.
    Init,
    /// A review of what is not committed.
    Review,
    /// The session as a file.
    Export,
    /// The settings and where they come from; with a key behind it one of them, with a value as well another value.
    Config,
    /// Another value that makes agents freer, when the person has agreed.
    FreerConfig,
    /// Whether everything is in order.
    Doctor,
    /// What the model is told.
    Prompt,
    /// What a report of a defect needs.
    Bug,
    /// What holds here.
    Status,
    /// Opens another folder to the session.
    AddDir,
    /// What the folder would switch on by itself.
    Trust,
    /// How a key is added.
    Login,
    /// The keys of a provider are removed.
    Logout,
}

/// Why a line that begins with a slash asks for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlashError {
    /// There is no such command.
    #[error("There is no /{name}; /help lists the commands")]
    Unknown {
        /// What was written.
        name: String,
    },
    /// There is no such command, but one that is nearly called so.
    #[error("There is no /{name}; did you mean /{near}?")]
    Misspelt {
        /// What was written.
        name: String,
        /// What may be meant.
        near: String,
    },
    /// Something follows a command that takes nothing.
    #[error("/{name} takes no argument, and got `{argument}`")]
    NoArgument {
        /// The command.
        name: String,
        /// What follows it.
        argument: String,
    },
    /// What follows it is none of the words that it takes.
    #[error("There is no `{word}`: {choices}")]
    NoSuchWord {
        /// What follows it.
        word: String,
        /// What it takes, in words.
        choices: String,
    },
    /// What follows `/context` says nothing about it.
    #[error("/context {}", ContextView::ARGUMENT)]
    NotOfContext,
    /// What may be a key stands where everybody can read it.
    #[error("A key never follows a command: /login PROVIDER asks for it, hidden")]
    KeyShown,
    /// What follows is no name of a model.
    #[error("The name of a model has no blanks, and got `{name}`; /model lists the models")]
    NoModel {
        /// What follows it.
        name: String,
    },
    /// A folder should follow.
    #[error("/add-dir takes the folder: /add-dir ../library")]
    NoFolder,
    /// Another agent has such a command, and there is none of it here.
    #[error("{0}")]
    Elsewhere(&'static str),
    /// A title should follow.
    #[error("/rename takes the new title: /rename Retry uploads")]
    NoTitle,
}
