//! The commands that begin with a slash: one table for the help, the completion and what they mean, shared by
//! every window.
//!
//! What a session can do by itself has a variant of its own; what needs something outside of it (other
//! sessions, files, settings) is an [`Outside`], which whoever opened the window carries out.

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
    /// The hooks.
    Hooks,
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

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub argument: &'static str,
    /// What it does.
    pub help: &'static str,
    choices: &'static [&'static str],
    setting: Option<Setting>,
    words: bool,
    read: fn(&str) -> Result<Slash, SlashError>,
}

/// A command that a person or a folder brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// Its name, without the slash.
    pub name: String,
    /// What may follow it.
    pub argument: String,
    /// What it does.
    pub help: String,
}

/// All slash commands, in the order of the help.
pub const TABLE: &[Row] = &[
    row("help", "", "keys and commands", |_| Ok(Slash::Help)).also(&["?"]),
    row("new", "", "new session", |_| Ok(Slash::New)).also(&["clear"]),
    row("resume", "[ID]", "resume an earlier session", resume).also(&["sessions", "continue"]),
    row("model", "[NAME]", "model or group of this session", model).also(&["models"]),
    row("mode", "[agent|plan|ask|debug]", "mode: agent, plan, ask, debug", |text| Setting::Mode.read(text))
        .sets(Setting::Mode),
    row(
        "approval",
        "[ask_first|accept_edits|manual|auto]",
        "when it asks: first, accepts edits, manual, auto",
        |text| Setting::Approval.read(text),
    )
    .also(&["approvals"])
    .sets(Setting::Approval),
    row("gen", "[1–8]", "tool level, 1–8", |text| Setting::Generation.read(text)).sets(Setting::Generation),
    row("status", "", "model, mode, sandbox, folder and cost of this session", |text| outside(Outside::Status, text)),
    row("compact", "[WHAT MATTERS]", "compact the conversation", |text| Ok(Slash::Compact(some(text))))
        .also(&["summarize"]),
    row(
        "context",
        "",
        "what fills the context; with tools, model, you, neco, order, all or a number: in detail",
        |text| ContextView::parse(text).map(Slash::Context).ok_or(SlashError::NotOfContext),
    )
    .with_words(),
    row("cost", "", "tokens and cost so far", |_| Ok(Slash::Cost)).also(&["usage", "stats"]),
    row("diff", "", "files changed by this session", |text| outside(Outside::Diff, text)),
    row("rewind", "[NUMBER|CHECKPOINT]", "rewind to an earlier message, with or without files", |text| {
        Ok(Slash::Rewind(text.to_owned()))
    }),
    row("undo", "", "undo your last message and its changes to files", |_| Ok(Slash::Undo)),
    row("redo", "", "redo what /undo or /rewind took back", |_| Ok(Slash::Redo)),
    row("fork", "[NUMBER]", "fork the session here, or before a message of yours", |text| outside(Outside::Fork, text)),
    row("checkpoint", "", "the checkpoints of your files", |text| outside(Outside::Checkpoints, text))
        .also(&["checkpoints"]),
    row("tree", "", "running agents", |_| Ok(Slash::Tree)),
    row("agents", "[VERB AGENT …]", "agent definitions; message, redirect, pause … a running one", |text| {
        outside(Outside::Agents, text)
    })
    .also(&["agent"])
    .of(crate::agent_ask::VERBS),
    row("workflow", "[run NAME|show NAME]", "workflows, and running one", |text| outside(Outside::Workflow, text))
        .also(&["workflows"])
        .of(&["run", "show", "list"]),
    row("todo", "", "the todo list", |_| Ok(Slash::Todo)).also(&["todos"]),
    row("plan", "", "the plan and its progress", |_| Ok(Slash::Plan)),
    row("state", "", "values that the agents of this session share", |text| outside(Outside::State, text)),
    row("memory", "[WORDS]", "memory; with words, searches it", |text| outside(Outside::Memory, text)),
    row("hooks", "", "your hooks: commands that run at set points", |text| outside(Outside::Hooks, text)),
    row("permissions", "", "your rules: what is allowed, asked, denied", |text| outside(Outside::Permissions, text))
        .also(&["policy", "allowed-tools"]),
    row("add-dir", "PATH", "let this session read and write another folder too", add_dir),
    row("trust", "[yes|no]", "hooks and rules of this folder: trust them or not", |text| {
        one_of(Outside::Trust, text, &["", "yes", "no"], "/trust, /trust yes or /trust no")
    })
    .of(&["yes", "no"]),
    row("sandbox", "[read_only|workspace_write|full]", "the sandbox of the agent's commands in this session", |text| {
        Setting::Sandbox.read(text)
    })
    .sets(Setting::Sandbox),
    row("init", "", "write AGENTS.md for this folder", |text| outside(Outside::Init, text)).with_words(),
    row("review", "[WHAT]", "review uncommitted changes", |text| outside(Outside::Review, text)),
    row("export", "[FILE] [--force]", "export the session as Markdown, HTML, JSONL or YAML", |text| {
        outside(Outside::Export, text)
    }),
    row("rename", "TITLE", "rename this session", rename).also(&["title"]),
    row("expand", "", "all output of the last call (Ctrl-O)", |_| Ok(Slash::Expand)),
    row("background", "", "send the running command to the background (Ctrl-B)", |_| Ok(Slash::Background))
        .also(&["bg"]),
    row("ps", "[NUMBER|stop NUMBER]", "commands in the background: what they print, and stopping one", |text| {
        outside(Outside::Background, text)
    })
    .also(&["bashes", "jobs", "tasks"]),
    row("copy", "", "copy the last answer", |_| Ok(Slash::Copy)),
    row("theme", "[dark|light|16|none]", "colours", |text| Setting::Theme.read(text))
        .also(&["themes"])
        .sets(Setting::Theme),
    row("config", "[KEY [VALUE]]", "settings and where they come from; with a value, sets one", |text| {
        outside(Outside::Config, text)
    })
    .also(&["settings"]),
    row("login", "[PROVIDER]", "add a key; what you type stays hidden", login).also(&["connect"]),
    row("logout", "[PROVIDER]", "remove the keys of a provider", |text| outside(Outside::Logout, text)),
    row("doctor", "", "check models, keys, sandbox, store and terminal", |text| outside(Outside::Doctor, text)),
    row("prompt", "", "the system prompt and what it is made of", |text| outside(Outside::Prompt, text)),
    row("bug", "", "what to send with a bug report", |text| outside(Outside::Bug, text)).also(&["feedback"]),
    row("exit", "", "leave; the session can be resumed", |_| Ok(Slash::Exit)).also(&["quit", "q"]),
];

/// Commands of other agents that there are none of here, and what to do instead.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["mcp"], "Neco has no MCP servers yet"),
    (&["skills", "skill"], "Neco has no skills yet; a Markdown file in .neco/commands is a command of your own"),
    (&["yolo", "auto", "full-auto"], "/approval auto asks only about what could do most harm"),
    (&["mention"], "@ and the name of a file goes into a message, and brings the file along"),
    (&["share", "unshare"], "Neco shares nothing; /export writes the session as a file"),
    (&["tools"], "/context tools lists the tools; /gen sets how many there are"),
    (&["details"], "Ctrl-O or /expand shows all output of the last call"),
    (&["editor"], "Ctrl-G opens what you write in your editor"),
    (&["vim"], "/config tui.vi true gives the field the keys of vi"),
    (&["statusline"], "/config tui.status_line COMMAND sets what the status line says"),
];

/// The command that `line` (which begins with a slash) asks for; `custom` are those that a person or a folder
/// brought along, and never stand in for one of the table.
///
/// # Errors
/// When it is no command, or what follows it makes no sense.
pub fn parse(line: &str, custom: &[Custom]) -> Result<Slash, SlashError> {
    let line = line.trim().trim_start_matches('/');
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    if let Some(row) = TABLE.iter().find(|row| row.is_called(name)) {
        if row.argument.is_empty() && !row.words && !argument.is_empty() {
            return Err(SlashError::NoArgument { name: name.to_owned(), argument: argument.to_owned() });
        }
        return (row.read)(argument);
    }
    if custom.iter().any(|custom| custom.name == name) {
        return Ok(Slash::Custom { name: name.to_owned(), argument: argument.to_owned() });
    }
    if let Some((_, words)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&name)) {
        return Err(SlashError::Elsewhere(words));
    }
    Err(match near(name, custom) {
        Some(near) => SlashError::Misspelt { name: name.to_owned(), near: near.to_owned() },
        None => SlashError::Unknown { name: name.to_owned() },
    })
}

/// Whether `line` begins with a command of the table, whatever follows it.
pub fn is_known(line: &str) -> bool {
    let name = line.trim().trim_start_matches('/').split(char::is_whitespace).next().unwrap_or_default();
    TABLE.iter().any(|row| row.is_called(name))
}

/// The command that somebody meant who wrote `name`: one that begins so, or one that is a slip of the finger away.
fn near<'a>(name: &str, custom: &'a [Custom]) -> Option<&'a str> {
    let names = || TABLE.iter().map(|row| row.name).chain(custom.iter().map(|custom| custom.name.as_str()));
    let aliases = TABLE.iter().flat_map(|row| row.aliases.iter().copied());
    let begins = names().filter(|_| !name.is_empty()).find(|known| known.starts_with(name));
    begins.or_else(|| nearest(name, names().chain(aliases)))
}

/// The one of `known` that is `name` but for a slip of the finger.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
    // Of a short name one letter may be wrong; with two it is another word.
    let near = slips.filter(|(slips, _)| *slips <= (name.chars().count() / 3).max(1));
    // Letters that changed places are likelier than one that is missing.
    near.min_by_key(|(slips, known)| (*slips, known.len().abs_diff(name.len()))).map(|(_, known)| known)
}

impl Row {
    /// Whether `name` is its name or another name of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// What can be completed behind it.
    pub fn choices(&self) -> Vec<&'static str> {
        match self.setting {
            Some(setting) => setting.words().iter().map(|(word, _)| *word).collect(),
            None => self.choices.to_vec(),
        }
    }

    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// With words that may follow it although they are not shown.
    const fn with_words(self) -> Self {
        Self { words: true, ..self }
    }

    const fn of(self, choices: &'static [&'static str]) -> Self {
        Self { choices, ..self }
    }

    const fn sets(self, setting: Setting) -> Self {
        Self { setting: Some(setting), ..self }
    }
}

const fn row(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    read: fn(&str) -> Result<Slash, SlashError>,
) -> Row {
    Row { name, aliases: &[], argument, help, choices: &[], setting: None, words: false, read }
}

fn outside(outside: Outside, text: &str) -> Result<Slash, SlashError> {
    Ok(Slash::Outside(outside, text.to_owned()))
}

/// A provider alone: what follows it may be a key, which is never repeated.
fn login(text: &str) -> Result<Slash, SlashError> {
    match text.split_whitespace().count() {
        0 | 1 => outside(Outside::Login, text),
        _ => Err(SlashError::KeyShown),
    }
}

/// One of these words, or what there is instead.
fn one_of(what: Outside, text: &str, words: &[&str], choices: &str) -> Result<Slash, SlashError> {
    if words.contains(&text) {
        outside(what, text)
    } else {
        Err(SlashError::NoSuchWord { word: text.to_owned(), choices: choices.to_owned() })
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn add_dir(text: &str) -> Result<Slash, SlashError> {
    if text.is_empty() {
        return Err(SlashError::NoFolder);
    }
    outside(Outside::AddDir, text)
}

fn resume(text: &str) -> Result<Slash, SlashError> {
    some(text).map_or_else(|| outside(Outside::Sessions, ""), |id| Ok(Slash::Resume(id)))
}

fn model(text: &str) -> Result<Slash, SlashError> {
    some(text).map_or_else(|| outside(Outside::Models, ""), |name| Ok(Slash::Model(name)))
}

fn rename(text: &str) -> Result<Slash, SlashError> {
    some(text).map(Slash::Rename).ok_or(SlashError::NoTitle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_every_choice_is_taken() {
        for row in TABLE {
            assert!(!row.help.is_empty());
            for choice in row.choices() {
                assert!(parse(&format!("/{} {choice}", row.name), &[]).is_ok(), "{} {choice}", row.name);
            }
            for alias in row.aliases {
                assert_eq!(TABLE.iter().filter(|other| other.is_called(alias)).count(), 1, "{alias}");
            }
        }
        // The numbers of generations are a range in the help.
        for row in TABLE.iter().filter(|row| row.setting.is_some_and(|setting| setting != Setting::Generation)) {
            assert_eq!(row.argument, format!("[{}]", row.choices().join("|")));
        }
        assert_eq!(parse("/compact keep the figures", &[]), Ok(Slash::Compact(Some("keep the figures".into()))));
        assert_eq!(parse("/sessions", &[]), Ok(Slash::Outside(Outside::Sessions, String::new())));
        assert_eq!(parse("/mod", &[]).unwrap_err().to_string(), "There is no /mod; did you mean /model?");
        assert_eq!(parse("/hepl", &[]).unwrap_err().to_string(), "There is no /hepl; did you mean /help?");
        assert_eq!(parse("/claer", &[]).unwrap_err().to_string(), "There is no /claer; did you mean /clear?");
        assert_eq!(parse("/mcp list", &[]).unwrap_err().to_string(), "Neco has no MCP servers yet");
        // What looks like another command only because both are short is none of it.
        for (line, words) in [
            ("/yolo", "/approval auto asks only about what could do most harm"),
            ("/tofu", "There is no /tofu; /help lists the commands"),
            ("/hlep", "There is no /hlep; did you mean /help?"),
            ("/permisions", "There is no /permisions; did you mean /permissions?"),
        ] {
            assert_eq!(parse(line, &[]).unwrap_err().to_string(), words);
        }
        for (other, ours) in [("/stats", "/cost"), ("/tasks", "/ps"), ("/summarize", "/compact"), ("/quit", "/exit")] {
            assert_eq!(parse(other, &[]), parse(ours, &[]), "{other}");
        }
        assert!(parse("/skills", &[]).unwrap_err().to_string().starts_with("Neco has no skills yet"));
        assert_eq!(parse("/xyzzy", &[]).unwrap_err().to_string(), "There is no /xyzzy; /help lists the commands");
    }

    #[test]
    fn what_there_is_not_is_named_and_nothing_tells_what_is_set() {
        assert_eq!(
            parse("/mode bogus", &[]).unwrap_err().to_string(),
            "There is no `bogus`: /mode agent, plan, ask or debug"
        );
        assert_eq!(
            parse("/theme pink", &[]).unwrap_err().to_string(),
            "There is no `pink`: /theme dark, light, 16 or none"
        );
        assert_eq!(parse("/approval", &[]), Ok(Slash::How(Setting::Approval)));
        for (line, words) in [
            ("/cost now", "/cost takes no argument, and got `now`"),
            ("/sandbox off", "There is no `off`: /sandbox read_only, workspace_write or full"),
            ("/trust maybe", "There is no `maybe`: /trust, /trust yes or /trust no"),
        ] {
            assert_eq!(parse(line, &[]).unwrap_err().to_string(), words);
        }
        let settings = [Setting::Mode, Setting::Approval, Setting::Generation, Setting::Theme, Setting::Sandbox];
        for (setting, count) in settings.into_iter().zip([4, 4, 8, 4, 3]) {
            assert_eq!(setting.choices().len(), count, "{setting:?}");
        }
        assert_eq!(Setting::Theme.told("dark"), "theme is dark; /theme dark, light, 16 or none");
    }

    #[test]
    fn a_command_of_ones_own_never_stands_in_for_one_of_the_table() {
        let custom = |name: &str| Custom { name: name.into(), argument: String::new(), help: String::new() };
        let custom = [custom("ship"), custom("exit")];
        let ship = Slash::Custom { name: "ship".into(), argument: "it now".into() };
        assert_eq!(parse("/ship  it now ", &custom), Ok(ship));
        assert_eq!(parse("/exit", &custom), Ok(Slash::Exit));
        assert_eq!(parse("/shi", &custom).unwrap_err().to_string(), "There is no /shi; did you mean /ship?");
    }
}
