//! The table of all commands, in the order of the help.

use super::command::{Outside, Slash, SlashError};
use super::readers::{add_dir, detach, login, model, one_of, outside, rename, resume, some};
use crate::context_view::ContextView;
use crate::setting::Setting;

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
    pub(super) setting: Option<Setting>,
    pub(super) words: bool,
    pub(super) read: fn(&str) -> Result<Slash, SlashError>,
}

/// A command that a person or a folder brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Custom {
    /// Its name, without the slash.
    pub name: String,
    /// What may follow it.
    pub argument: String,
    /// What it does.
    pub help: String,
    /// Whether it is a skill, which `$name` in a message brings in too.
    pub is_skill: bool,
    /// Another name of it.
    pub also: Option<String>,
}

impl Custom {
    /// Whether it has this name, or this other one.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.is_also_called(name)
    }

    /// Whether `name` is another name of it: a prompt of an MCP server, `mcp__SERVER__PROMPT`, is `SERVER:PROMPT` too.
    pub(super) fn is_also_called(&self, name: &str) -> bool {
        let parts = name.split_once(':');
        self.also.as_deref() == Some(name)
            || parts.is_some_and(|(server, prompt)| self.name == format!("mcp__{server}__{prompt}"))
    }

    /// Its other name: `PLUGIN:SKILL`, or `SERVER:PROMPT` of an MCP server.
    pub fn other_name(&self) -> Option<String> {
        if self.also.is_some() {
            return self.also.clone();
        }
        let (server, prompt) = self.name.strip_prefix("mcp__")?.split_once("__")?;
        Some(format!("{server}:{prompt}"))
    }
}

/// How much a model can be told to think.
const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// All slash commands, in the order of the help.
pub const TABLE: &[Row] = &[
    row("help", "", "keys and commands", |_| Ok(Slash::Help)).also(&["?"]),
    row("new", "", "new session", |_| Ok(Slash::New)).also(&["clear"]),
    row("resume", "[ID]", "resume an earlier session", resume).also(&["sessions", "continue"]),
    row("model", "[NAME]", "model or group of this session", model).also(&["models"]),
    row("effort", "[none|minimal|low|medium|high|xhigh|max]", "how much the model thinks", |text| {
        let words = [[""].as_slice(), EFFORTS].concat();
        one_of(Outside::Effort, text, &words, "/effort none, minimal, low, medium, high, xhigh or max")
    })
    .also(&["reasoning"])
    .of(EFFORTS),
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
    row("mcp", "[NAME|VERB NAME]", "MCP servers; with a name its tools; restart, enable or disable one", |text| {
        outside(Outside::Mcp, text)
    }),
    row("hooks", "", "your hooks: commands that run at set points", |text| outside(Outside::Hooks, text)),
    row("skills", "[NAME]", "skills: guides for a kind of task; with a name, what it says", |text| {
        outside(Outside::Skills, text)
    })
    .also(&["skill"]),
    row("plugins", "[NAME|VERB NAME]", "plugins; with a name, what it brings; enable or disable one", |text| {
        outside(Outside::Plugins, text)
    })
    .also(&["plugin"]),
    row("permissions", "", "your rules: what is allowed, asked, denied", |text| outside(Outside::Permissions, text))
        .also(&["policy", "allowed-tools"]),
    row("add-dir", "PATH", "let this session read and write another folder too", add_dir),
    row("trust", "[show|yes|no]", "what this folder would switch on: trust it or not", |text| {
        one_of(Outside::Trust, text, &["", "show", "yes", "no"], "/trust, /trust show, /trust yes or /trust no")
    })
    .of(&["show", "yes", "no"]),
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
    row("detach", "[now]", "close the window; the session works on in the background", detach).of(&["now"]),
    row("ps", "[NUMBER|stop NUMBER]", "commands in the background: what they print, and stopping one", |text| {
        outside(Outside::Background, text)
    })
    .also(&["bashes", "jobs", "tasks"]),
    row("copy", "", "copy the last answer", |_| Ok(Slash::Copy)),
    row("theme", "[auto|dark|light|16|none]", "colours", |text| Setting::Theme.read(text))
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
pub(super) const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["yolo", "auto", "full-auto"], "/approval auto asks only about what could do most harm"),
    (&["mention"], "@ and the name of a file goes into a message, and brings the file along"),
    (&["share", "unshare"], "Neco shares nothing; /export writes the session as a file"),
    (&["tools"], "/context tools lists the tools; /gen sets how many there are"),
    (&["details"], "Ctrl-O or /expand shows all output of the last call"),
    (&["editor"], "Ctrl-G opens what you write in your editor"),
    (&["vim"], "/config tui.vi true gives the field the keys of vi"),
    (&["statusline"], "/config tui.status_line COMMAND sets what the status line says"),
    (&["think", "thinking", "variant"], "/effort high sets how much it thinks; /effort lists what else there is"),
    (&["fast"], "/model chooses a faster model; /effort low lets it think less"),
    (&["keybindings", "keymap", "keys"], "? shows the keys; [tui.keys] in your settings changes them"),
    (
        &["plugin", "plugins", "extensions", "marketplace"],
        "`neco plugin` installs, lists and switches plugins; open sessions have them from the next message on",
    ),
    (&["import", "migrate"], "`neco import` in a shell takes over what you have set up in another agent"),
    (&["security-review"], "/review WHAT reviews what is not committed: /review security"),
    (&["output-style", "personality"], "AGENTS.md or .neco/rules/*.md say how it is to answer"),
    (&["ide"], "Neco has no editor extension; it runs in the editor's terminal, and Ctrl-G opens your editor"),
    (
        &["terminal-setup"],
        "nothing has to be set up: \\ at the end of a line and Ctrl-J begin a new one where Shift-Enter does not",
    ),
    (&["upgrade", "update"], "Neco does not update itself: install the new version as you installed this one"),
    (
        &["pr-comments", "pr_comments", "install-github-app"],
        "Neco does not talk to GitHub; the agent can run gh: ask it to read the comments of a pull request",
    ),
    (&["btw"], "Neco has no side questions; what you send while it works reaches it before its next step"),
    (&["release-notes", "changelog"], "CHANGELOG.md of Neco's sources says what is new; neco --version is yours"),
];

impl Row {
    /// Whether `name` is its name or another name of it.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether what may follow it is written as one word, such as `[NAME]`.
    pub fn takes_one_word(&self) -> bool {
        !self.argument.is_empty() && !self.argument.contains(' ')
    }

    /// What can be completed behind it.
    pub fn choices(&self) -> Vec<&'static str> {
        match self.setting {
            Some(setting) => setting.words().iter().map(|(word, _)| *word).collect(),
            None => self.choices.to_vec(),
        }
    }

    /// The same, each with what it means; empty where nothing is said of it.
    pub fn described_choices(&self) -> Vec<(&'static str, &'static str)> {
        match self.setting {
            Some(setting) => setting.words().to_vec(),
            None if self.is_called("agents") => crate::agent_ask::DESCRIBED.to_vec(),
            None => self.choices.iter().map(|choice| (*choice, "")).collect(),
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
