//! The commands that begin with a slash: one table for the help, the completion and what they mean, shared by
//! every window.
//!
//! What a session can do by itself has a variant of its own; what needs something outside of it (other
//! sessions, files, settings) is an [`Outside`], which whoever opened the window carries out.

use neco_proto::{ApprovalMode, Mode};

use crate::context_view::ContextView;

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
    /// Another level of the sandbox, for the sessions that begin from now on; one of the choices of the row.
    Sandbox(String),
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

/// What a command without anything behind it tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The mode.
    Mode,
    /// The approval mode.
    Approval,
    /// The generation.
    Generation,
    /// The colours.
    Theme,
    /// What commands run in.
    Sandbox,
}

impl Setting {
    /// What it can be set to: the word, what that means, and what sets it.
    pub fn choices(self) -> Vec<(&'static str, &'static str, Slash)> {
        let of = |words: &'static [(&'static str, &'static str)], read: fn(&str) -> Result<Slash, String>| {
            words.iter().filter_map(|(word, about)| Some((*word, *about, read(word).ok()?))).collect()
        };
        match self {
            Self::Mode => of(MODE_CHOICES, mode),
            Self::Approval => of(APPROVAL_CHOICES, approval),
            Self::Generation => of(GENERATION_CHOICES, generation),
            Self::Theme => of(THEME_CHOICES, theme),
            Self::Sandbox => of(SANDBOX_CHOICES, sandbox),
        }
    }

    /// What a list of these is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mode => "Mode of this session",
            Self::Approval => "When it asks",
            Self::Generation => "Tool level",
            Self::Theme => "Colours",
            Self::Sandbox => "Sandbox of commands, from the next session on",
        }
    }

    /// The setting in words: what it is called, how it is set, and how it is set otherwise.
    pub fn told(self, present: &str) -> String {
        let (name, choices) = match self {
            Self::Mode => ("mode", MODES),
            Self::Approval => ("approval", APPROVALS),
            Self::Generation => ("tool level", GENERATIONS),
            Self::Theme => ("theme", THEMES),
            Self::Sandbox => ("sandbox", SANDBOXES),
        };
        format!("{name} is {present}; {choices}")
    }
}

const MODES: &str = "/mode agent, plan, ask or debug";
const APPROVALS: &str = "/approval ask_first, accept_edits, manual or auto";
const GENERATIONS: &str = "/gen takes a number from 1 to 8";
const THEMES: &str = "/theme dark, light, 16 or none";
const SANDBOXES: &str = "/sandbox read_only, workspace_write or full";

const MODE_CHOICES: &[(&str, &str)] = &[
    ("agent", "all tools"),
    ("plan", "reads, then shows a plan; changes nothing"),
    ("ask", "answers; nothing is written or run"),
    ("debug", "a bug is reproduced before it is fixed"),
];
const APPROVAL_CHOICES: &[(&str, &str)] = &[
    ("ask_first", "asks before edits and commands"),
    ("accept_edits", "accepts edits, asks before commands"),
    ("manual", "asks before everything but reading"),
    ("auto", "asks only about what is high risk"),
];
const GENERATION_CHOICES: &[(&str, &str)] = &[
    ("1", "runs commands, reads and edits files"),
    ("2", "and searches, git, patches, tools you plug in"),
    ("3", "and plans, todos, questions"),
    ("4", "and the web"),
    ("5", "and memory, and an index of the code"),
    ("6", "as 5, until screens can be seen"),
    ("7", "and agents and workflows"),
    ("8", "as 7, until tools can be made"),
];
const THEME_CHOICES: &[(&str, &str)] = &[
    ("dark", "for dark terminals"),
    ("light", "for light terminals"),
    ("16", "your terminal's own sixteen"),
    ("none", "no colours"),
];
const SANDBOX_CHOICES: &[(&str, &str)] = &[
    ("read_only", "commands write nowhere"),
    ("workspace_write", "commands write in this folder, without the network"),
    ("full", "no sandbox: commands do whatever you could do"),
];

/// What is said where `/copy`, `/expand` and `/todo` have nothing to give.
pub const NO_ANSWER: &str = "no answer yet";
/// See [`NO_ANSWER`].
pub const NO_CALL: &str = "Nothing to unfold";
/// See [`NO_ANSWER`].
pub const NO_COMMAND: &str = "No command of the agent runs now";
/// See [`NO_ANSWER`].
pub const NO_TODOS: &str = "the todo list is empty";

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
    /// The agents that can be asked; with words behind it, what a person asks of one that works
    /// ([`crate::agent_ask`]).
    Agents,
    /// Workflows: those there are, and running one.
    Workflow,
    /// What is remembered.
    Memory,
    /// The hooks.
    Hooks,
    /// The rules about what may happen, to look at and to take back.
    Permissions,
    /// What commands run in.
    Sandbox,
    /// AGENTS.md of this folder, written by the agent.
    Init,
    /// A review of what is not committed.
    Review,
    /// The session as a file.
    Export,
    /// The settings and where they come from.
    Config,
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
    /// What can be completed behind it.
    pub choices: &'static [&'static str],
    words: bool,
    read: fn(&str) -> Result<Slash, String>,
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
    row("mode", "[agent|plan|ask|debug]", "mode: agent, plan, ask, debug", mode).of(&["agent", "plan", "ask", "debug"]),
    row(
        "approval",
        "[ask_first|accept_edits|manual|auto]",
        "when it asks: first, accepts edits, manual, auto",
        approval,
    )
    .of(&["ask_first", "accept_edits", "manual", "auto"]),
    row("gen", "[1–8]", "tool level, 1–8", generation).of(&["1", "2", "3", "4", "5", "6", "7", "8"]),
    row("status", "", "model, mode, sandbox, folder and cost of this session", |text| outside(Outside::Status, text)),
    row("compact", "[WHAT MATTERS]", "compact the conversation", |text| Ok(Slash::Compact(some(text)))),
    row(
        "context",
        "",
        "what fills the context; with tools, model, you, neco, order, all or a number: in detail",
        |text| {
            ContextView::parse(text).map(Slash::Context).ok_or_else(|| format!("/context {}", ContextView::ARGUMENT))
        },
    )
    .with_words(),
    row("cost", "", "tokens and cost so far", |_| Ok(Slash::Cost)).also(&["usage"]),
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
    row("memory", "[WORDS]", "memory; with words, searches it", |text| outside(Outside::Memory, text)),
    row("hooks", "", "your hooks: commands that run at set points", |text| outside(Outside::Hooks, text)),
    row("permissions", "", "your rules: what is allowed, asked, denied", |text| outside(Outside::Permissions, text))
        .also(&["policy"]),
    row("add-dir", "PATH", "let this session read and write another folder too", add_dir),
    row("trust", "[yes|no]", "hooks and rules of this folder: trust them or not", |text| {
        one_of(Outside::Trust, text, &["", "yes", "no"], "/trust, /trust yes or /trust no")
    })
    .of(&["yes", "no"]),
    row("sandbox", "[read_only|workspace_write|full]", "the sandbox of commands", sandbox).of(&[
        "read_only",
        "workspace_write",
        "full",
    ]),
    row("init", "", "write AGENTS.md for this folder", |text| outside(Outside::Init, text)).with_words(),
    row("review", "[WHAT]", "review uncommitted changes", |text| outside(Outside::Review, text)),
    row("export", "[FILE] [--force]", "export the session as Markdown, HTML, JSONL or YAML", |text| {
        outside(Outside::Export, text)
    }),
    row("rename", "TITLE", "rename this session", rename).also(&["title"]),
    row("expand", "", "all output of the last call (Ctrl-O)", |_| Ok(Slash::Expand)),
    row("background", "", "send the running command to the background (Ctrl-B)", |_| Ok(Slash::Background))
        .also(&["bg"]),
    row("copy", "", "copy the last answer", |_| Ok(Slash::Copy)),
    row("theme", "[dark|light|16|none]", "colours", theme).of(&["dark", "light", "16", "none"]),
    row("config", "[KEY VALUE]", "settings and where they come from; with KEY VALUE, sets one", |text| {
        outside(Outside::Config, text)
    })
    .also(&["settings"]),
    row("login", "[PROVIDER]", "add a key; what you type stays hidden", login),
    row("logout", "[PROVIDER]", "remove the keys of a provider", |text| outside(Outside::Logout, text)),
    row("doctor", "", "check models, keys, sandbox, store and terminal", |text| outside(Outside::Doctor, text)),
    row("prompt", "", "the system prompt and what it is made of", |text| outside(Outside::Prompt, text)),
    row("bug", "", "what to send with a bug report", |text| outside(Outside::Bug, text)),
    row("exit", "", "leave; the session can be resumed", |_| Ok(Slash::Exit)).also(&["quit", "q"]),
];

/// The command that `line` (which begins with a slash) asks for; `custom` are those that a person or a folder
/// brought along, and never stand in for one of the table.
///
/// # Errors
/// What the person should read instead.
pub fn parse(line: &str, custom: &[Custom]) -> Result<Slash, String> {
    let line = line.trim().trim_start_matches('/');
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    if let Some(row) = TABLE.iter().find(|row| row.is_called(name)) {
        if row.argument.is_empty() && !row.words && !argument.is_empty() {
            return Err(format!("/{name} takes no argument, and got `{argument}`"));
        }
        return (row.read)(argument);
    }
    if custom.iter().any(|custom| custom.name == name) {
        return Ok(Slash::Custom { name: name.to_owned(), argument: argument.to_owned() });
    }
    Err(match near(name, custom) {
        Some(near) => format!("There is no /{name}; did you mean /{near}?"),
        None => format!("There is no /{name}; /help lists the commands"),
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
    let near = slips.filter(|(slips, _)| slips * 2 <= name.chars().count());
    near.min_by_key(|(slips, _)| *slips).map(|(_, known)| known)
}

impl Row {
    /// Whether `name` is its name or another name of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
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
}

const fn row(
    name: &'static str,
    argument: &'static str,
    help: &'static str,
    read: fn(&str) -> Result<Slash, String>,
) -> Row {
    Row { name, aliases: &[], argument, help, choices: &[], words: false, read }
}

fn outside(outside: Outside, text: &str) -> Result<Slash, String> {
    Ok(Slash::Outside(outside, text.to_owned()))
}

/// A provider alone: what follows it may be a key, which is never repeated.
fn login(text: &str) -> Result<Slash, String> {
    match text.split_whitespace().count() {
        0 | 1 => outside(Outside::Login, text),
        _ => Err("A key never follows a command: /login PROVIDER asks for it, hidden".to_owned()),
    }
}

/// One of these words, or what there is instead.
fn one_of(what: Outside, text: &str, words: &[&str], choices: &str) -> Result<Slash, String> {
    if words.contains(&text) { outside(what, text) } else { Err(format!("There is no `{text}`: {choices}")) }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn add_dir(text: &str) -> Result<Slash, String> {
    if text.is_empty() {
        return Err("/add-dir takes the folder: /add-dir ../library".to_owned());
    }
    outside(Outside::AddDir, text)
}

fn resume(text: &str) -> Result<Slash, String> {
    some(text).map_or_else(|| outside(Outside::Sessions, ""), |id| Ok(Slash::Resume(id)))
}

fn model(text: &str) -> Result<Slash, String> {
    some(text).map_or_else(|| outside(Outside::Models, ""), |name| Ok(Slash::Model(name)))
}

fn mode(text: &str) -> Result<Slash, String> {
    let mode = [Mode::Agent, Mode::Plan, Mode::Ask, Mode::Debug].into_iter().find(|mode| mode.name() == text);
    chosen(text, mode.map(Slash::Mode), Setting::Mode, MODES)
}

fn approval(text: &str) -> Result<Slash, String> {
    let found = ApprovalMode::named(&text.replace('-', "_"));
    chosen(text, found.map(Slash::Approval), Setting::Approval, APPROVALS)
}

fn generation(text: &str) -> Result<Slash, String> {
    let number = text.parse().ok().filter(|number| (1..=8).contains(number));
    chosen(text, number.map(Slash::Generation), Setting::Generation, GENERATIONS)
}

/// What was chosen; how it is set when nothing was, and what there is when there is no such thing.
fn chosen(text: &str, found: Option<Slash>, setting: Setting, choices: &str) -> Result<Slash, String> {
    match found {
        None if text.is_empty() => Ok(Slash::How(setting)),
        None => Err(format!("There is no `{text}`: {choices}")),
        Some(found) => Ok(found),
    }
}

fn rename(text: &str) -> Result<Slash, String> {
    some(text).map(Slash::Rename).ok_or_else(|| "/rename takes the new title: /rename Retry uploads".to_owned())
}

fn theme(text: &str) -> Result<Slash, String> {
    let known = ["dark", "light", "16", "none"].contains(&text);
    chosen(text, known.then(|| Slash::Theme(text.to_owned())), Setting::Theme, THEMES)
}

fn sandbox(text: &str) -> Result<Slash, String> {
    let known = SANDBOX_CHOICES.iter().any(|(word, _)| *word == text);
    chosen(text, known.then(|| Slash::Sandbox(text.to_owned())), Setting::Sandbox, SANDBOXES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_every_choice_is_taken() {
        for row in TABLE {
            assert!(!row.help.is_empty());
            for choice in row.choices {
                assert!(parse(&format!("/{} {choice}", row.name), &[]).is_ok(), "{} {choice}", row.name);
            }
            for alias in row.aliases {
                assert_eq!(TABLE.iter().filter(|other| other.is_called(alias)).count(), 1, "{alias}");
            }
        }
        assert_eq!(parse("/compact keep the figures", &[]), Ok(Slash::Compact(Some("keep the figures".into()))));
        assert_eq!(parse("/sessions", &[]), Ok(Slash::Outside(Outside::Sessions, String::new())));
        assert_eq!(parse("/mod", &[]), Err("There is no /mod; did you mean /model?".into()));
        assert_eq!(parse("/hepl", &[]), Err("There is no /hepl; did you mean /help?".into()));
        assert_eq!(parse("/claer", &[]), Err("There is no /claer; did you mean /clear?".into()));
        assert_eq!(parse("/xyzzy", &[]), Err("There is no /xyzzy; /help lists the commands".into()));
    }

    #[test]
    fn what_there_is_not_is_named_and_nothing_tells_what_is_set() {
        assert_eq!(parse("/mode bogus", &[]), Err("There is no `bogus`: /mode agent, plan, ask or debug".into()));
        assert_eq!(parse("/theme pink", &[]), Err("There is no `pink`: /theme dark, light, 16 or none".into()));
        assert_eq!(parse("/approval", &[]), Ok(Slash::How(Setting::Approval)));
        for (line, words) in [
            ("/cost now", "/cost takes no argument, and got `now`"),
            ("/sandbox off", "There is no `off`: /sandbox read_only, workspace_write or full"),
            ("/trust maybe", "There is no `maybe`: /trust, /trust yes or /trust no"),
        ] {
            assert_eq!(parse(line, &[]), Err(words.into()));
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
        assert_eq!(parse("/shi", &custom), Err("There is no /shi; did you mean /ship?".into()));
    }
}
