//! What can be written on the command line, and what it means.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use neco_app::workspace::rules::RuleFlags;
use neco_proto::app::rules::GivenRules;
use neco_proto::{ApprovalMode, Mode};
use neco_workspace::worktree::BringBack;

use crate::cmd::acp::{ACP, AcpArgs};
use crate::cmd::agents::AgentsCommand;
use crate::cmd::auth::AuthCommand;
use crate::cmd::background::LogsArgs;
use crate::cmd::config::ConfigCommand;
use crate::cmd::eval::{EVAL, EvalArgs};
use crate::cmd::import::{IMPORT, ImportArgs};
use crate::cmd::init::InitArgs;
use crate::cmd::mcp::McpCommand;
use crate::cmd::memory::MemoryCommand;
use crate::cmd::model::ModelCommand;
use crate::cmd::plan::PlanCommand;
use crate::cmd::plugin::PluginCommand;
use crate::cmd::policy::PolicyCommand;
use crate::cmd::prompt::PromptCommand;
use crate::cmd::serve::{SERVE, ServeArgs};
use crate::cmd::session::SessionCommand;
use crate::cmd::shell::COMPLETIONS;
use crate::cmd::skill::SkillCommand;
use crate::cmd::tools::ToolsCommand;
use crate::cmd::trust::TrustArgs;
use crate::cmd::web::{WEB, WebArgs};
use crate::cmd::workflow::WorkflowCommand;
use crate::help;

/// What a flag can be set to: the value, how it is written, and what `--help` says of it; a way to write it that is not
/// listed says nothing.
pub type Choices<T> = [(T, &'static str, &'static str)];

/// The modes.
pub const MODES: &Choices<Mode> = &[
    (Mode::Agent, "agent", "All tools"),
    (Mode::Plan, "plan", "Nothing is changed; commands that only look are run"),
    (Mode::Ask, "ask", "Nothing is written or run"),
    (Mode::Debug, "debug", "All tools; a bug is reproduced first, and the fix proved"),
];
/// When a person is asked.
pub const APPROVALS: &Choices<ApprovalMode> = &[
    (ApprovalMode::Auto, "auto", "Only for what is high risk"),
    (ApprovalMode::AcceptEdits, "accept_edits", "Before commands are run; edits are accepted"),
    (ApprovalMode::AskFirst, "ask_first", "Before files are written and commands are run"),
    (ApprovalMode::Manual, "manual", "Before everything that does more than read"),
    (ApprovalMode::AcceptEdits, "accept-edits", ""),
    (ApprovalMode::AskFirst, "ask-first", ""),
];
/// What commands may touch, as the setting has it.
const SANDBOXES: &Choices<&str> = &[
    ("read_only", "read_only", "Commands only read"),
    ("workspace_write", "workspace_write", "Commands write to the workspace"),
    ("full", "full", "No sandbox"),
    ("read_only", "read-only", ""),
    ("workspace_write", "workspace-write", ""),
    ("full", "danger-full-access", ""),
];
/// How the result of a worktree is brought back.
const BRING_BACK: &Choices<BringBack> = &[
    (BringBack::Branch, "branch", "As commits on a branch"),
    (BringBack::Patch, "patch", "As a file for `git apply`"),
];

/// Reads one of these.
pub fn one_of<T: Clone + Send + Sync>(these: &'static Choices<T>) -> impl TypedValueParser<Value = T> {
    let value =
        |(_, word, help): &(T, &'static str, &'static str)| PossibleValue::new(*word).help(*help).hide(help.is_empty());
    PossibleValuesParser::new(these.iter().map(value)).try_map(|written| {
        let found = these.iter().find(|(_, word, _)| *word == written);
        found.map(|(value, ..)| value.clone()).ok_or("not one of the choices")
    })
}

/// The command line as it was written.
#[derive(Debug, Parser)]
#[command(
    name = "neco",
    version,
    about = "Neco is a coding agent: it reads, edits and runs what your task needs, and asks before it does harm.",
    after_help = help::SHORT,
    after_long_help = help::LONG,
    help_template = help::TEMPLATE,
    override_usage = "neco [OPTIONS] [MESSAGE | -m TEXT]\n       neco COMMAND …",
    max_term_width = 80
)]
pub struct CommandLine {
    /// What is asked when no subcommand is named.
    #[command(flatten)]
    pub run: RunArgs,
    /// Works in an editor, as neco acp does
    #[arg(long, hide = true)]
    pub acp: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Option<Subcommands>,
    /// Where settings come from.
    #[command(flatten)]
    pub everywhere: EverywhereArgs,
}

/// What holds for every subcommand.
#[derive(Clone, Debug, Default, Args)]
pub struct EverywhereArgs {
    /// Sets a setting for this run; may be repeated. -c alone is --continue
    #[arg(short = 'c', alias = "config", value_name = "KEY=VALUE", global = true, action = ArgAction::Append)]
    pub overrides: Vec<String>,
    /// Works in this folder instead of the current one
    #[arg(short = 'C', long, aliases = ["cd", "directory", "workdir"], value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// Works with the server at this address instead of by itself; NECO_SERVER does the same
    #[arg(long, value_name = "URL", global = true, hide_short_help = true)]
    pub server: Option<String>,
    /// Writes a log file and says where it is
    #[arg(long, global = true)]
    pub debug: bool,
}

/// One request to the agent.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RunArgs {
    /// One request: answers and ends; piped stdin is added, `-` is stdin alone
    ///
    /// Other users of this machine can see it in the process list while it runs; pipe in what they must not see.
    #[arg(help_heading = "Request", short, long, aliases = ["prompt", "text", "query"], value_name = "TEXT")]
    pub message: Option<String>,
    /// One request, written behind it or piped in, as in Claude Code
    #[arg(help_heading = "Request", short, long)]
    pub print: bool,
    /// The first message in the terminal window; the same as -m where there is none
    #[arg(value_name = "MESSAGE", hide = true)]
    pub words: Vec<String>,
    /// Begins the request in the background and ends: `neco ps`, `neco logs -f` and `neco stop` follow it
    #[arg(help_heading = "Request", hide_short_help = true, long, conflicts_with_all = ["timeout", "output", "output_schema", "worktree"])]
    pub background: bool,
    /// Works in the server, which goes on with the session when this process ends; one is started if none runs
    #[arg(help_heading = "Request", hide_short_help = true, long, conflicts_with = "timeout")]
    pub serve: bool,
    /// Shows the model a picture with the message: PNG, JPEG, WebP or GIF; may be repeated
    #[arg(help_heading = "Request", hide_short_help = true, short = 'i', long = "image", value_name = "FILE", action = ArgAction::Append)]
    pub images: Vec<PathBuf>,
    /// Adds a file to the message, or shows a picture; may be repeated
    #[arg(help_heading = "Request", long = "file", value_name = "FILE", action = ArgAction::Append)]
    pub files: Vec<PathBuf>,
    /// Continues the last session of this folder; -c for short
    #[arg(help_heading = "Sessions", long = "continue")]
    pub continue_latest: bool,
    /// Continues the session with this id, or one that you choose
    #[arg(help_heading = "Sessions", short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "",
        conflicts_with = "continue_latest")]
    pub resume: Option<String>,
    /// Continues the session of this id; four characters that no other has will do
    #[arg(help_heading = "Sessions", hide_short_help = true, long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(),
        conflicts_with_all = ["continue_latest", "resume"])]
    pub session: Option<String>,
    /// The model or model group to ask: provider/model, or a group's name
    ///
    /// A model may have parameters, as in openai/gpt-5?reasoning=high&max_tokens=8000; see Models below.
    #[arg(help_heading = "Model and tools", long, value_name = "MODEL", value_parser = NonEmptyStringValueParser::new())]
    pub model: Option<String>,
    /// Works as this agent: with the instructions, the model, the tools and the limits of its definition
    #[arg(long, help_heading = "Model and tools", hide_short_help = true, value_name = "NAME")]
    pub agent: Option<String>,
    /// Adds this text to the system prompt, for this run
    #[arg(long, help_heading = "Model and tools", hide_short_help = true, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,
    /// Who the agent is, for the system prompt.
    #[arg(skip)]
    pub role: Option<String>,
    /// Whether the session is gone afterwards, so that nobody is told how to resume it.
    #[arg(skip)]
    pub passing: bool,
    /// The mode: plan changes nothing, ask writes and runs nothing
    ///
    /// agent: all tools; plan: looks and makes a plan, changes nothing; ask: answers questions, writes
    /// and runs nothing; debug: all tools, and a bug is reproduced before it is fixed.
    #[arg(help_heading = "Model and tools", long, value_parser = one_of(MODES))]
    pub mode: Option<Mode>,
    /// When you are asked
    ///
    /// Only for what is high risk (and for the web, where commands have no network), before writes and
    /// commands, or before everything that does more than read.
    #[arg(help_heading = "Safety", long, value_parser = one_of(APPROVALS))]
    pub approval: Option<ApprovalMode>,
    /// Asks only about what is high risk; the same as --approval auto
    #[arg(help_heading = "Safety", short, long, alias = "full-auto", conflicts_with = "approval")]
    pub yes: bool,
    /// The rules of this run and the folders it opens
    #[command(flatten)]
    pub rules: RuleArgs,
    /// The box that commands run in
    #[command(flatten)]
    pub box_args: BoxArgs,
    /// Works in a git worktree of its own and brings the result back as a branch, or as a patch; your
    /// working tree stays as it is
    #[arg(help_heading = "Model and tools", hide_short_help = true, long, value_parser = one_of(BRING_BACK), value_name = "AS", num_args = 0..=1, require_equals = true,
        default_missing_value = "branch", conflicts_with_all = ["session", "continue_latest", "resume"])]
    pub worktree: Option<BringBack>,
    /// The tool level, from 1 to 8: each has the tools of the ones below it; the highest unless set
    #[arg(
        help_heading = "Model and tools",
        hide_short_help = true,
        long = "gen",
        value_name = "N",
        visible_alias = "generation"
    )]
    pub generation: Option<u8>,
    #[arg(help_heading = "Model and tools", hide_short_help = true, long, help = help::TOOLS_SHORT, long_help = help::TOOLS, value_name = "LIST", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// Stops after this many turns
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = at_least_one)]
    pub max_turns: Option<u32>,
    /// Stops when the session has cost this much, as far as prices are known
    #[arg(help_heading = "Limits", long, alias = "max-budget-usd", value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_cost: Option<f64>,
    /// Stops after this long: 90, 90s, 10m, 1h
    #[arg(help_heading = "Limits", long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Writes the last message to this file, too
    #[arg(help_heading = "Output", short, long, value_name = "FILE", alias = "output-last-message")]
    pub output: Option<PathBuf>,
    /// The last message is JSON that fits the JSON schema in this file; exit code 1 when it does not
    #[arg(help_heading = "Output", hide_short_help = true, long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// text: the message is text; stream-json: every line of stdin is a message, answered in one session
    #[arg(long, help_heading = "Request", hide_short_help = true, value_enum, value_name = "FORMAT", default_value_t)]
    pub input_format: InputFormat,
    /// How a run is printed
    ///
    /// text: the answer on stdout, all else on stderr; json: one object at the end; stream-json: one
    /// event a line; claude-stream-json: the lines of Claude Code. Only text asks: for the others, what
    /// would be asked is refused.
    #[arg(help_heading = "Output", long, value_enum, value_name = "FORMAT", default_value_t)]
    pub output_format: OutputFormat,
    /// Flags of other agents that ask for what is so here anyway: nothing is left out, and any folder will do
    #[arg(long, hide = true, alias = "skip-git-repo-check")]
    pub verbose: bool,
}

/// The box that commands run in.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct BoxArgs {
    /// What commands may touch
    ///
    /// Commands only read, write to the workspace, or do anything you can.
    #[arg(help_heading = "Safety", long, value_parser = one_of(SANDBOXES), value_name = "LEVEL")]
    pub sandbox: Option<&'static str>,
    /// Lets commands reach the network
    #[arg(help_heading = "Safety", long)]
    pub network: bool,
}

impl BoxArgs {
    /// The same as settings.
    pub fn overrides(&self) -> Vec<String> {
        let level = self.sandbox.map(|level| format!("sandbox.level={level}"));
        level.into_iter().chain(self.network.then(|| "sandbox.network=on".to_owned())).collect()
    }
}

/// Rules for this run, and folders that are open in it.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RuleArgs {
    /// Allows without asking: a tool, `bash(git log *)`, `edit(src/**)`
    #[arg(help_heading = "Safety", long, value_name = "RULE", action = ArgAction::Append)]
    pub allow: Vec<String>,
    /// Asks before every such call; may be repeated
    #[arg(help_heading = "Safety", hide_short_help = true, long, value_name = "RULE", action = ArgAction::Append)]
    pub ask: Vec<String>,
    /// Refuses every such call
    #[arg(help_heading = "Safety", long, value_name = "RULE", action = ArgAction::Append)]
    pub deny: Vec<String>,
    /// Opens another folder for reading and writing, too
    #[arg(help_heading = "Safety", long, value_name = "DIR", action = ArgAction::Append)]
    pub add_dir: Vec<PathBuf>,
}

impl RuleArgs {
    /// The same without the command line, which was typed in `start`.
    pub fn flags(&self, start: &Path) -> RuleFlags {
        let add_dir = self.add_dir.iter().map(|folder| start.join(folder)).collect();
        RuleFlags { add_dir, ..RuleFlags::from(&self.given()) }
    }

    /// The same as requests carry it.
    pub fn given(&self) -> GivenRules {
        let Self { allow, ask, deny, add_dir } = self.clone();
        let add_dir = add_dir.iter().map(|folder| folder.display().to_string()).collect();
        GivenRules { allow, ask, deny, add_dir }
    }
}

/// What stdin holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Text that belongs to the message.
    #[default]
    Text,
    /// One message a line.
    StreamJson,
}

/// How a run is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// One event a line.
    StreamJson,
    /// The lines that Claude Code prints, for programs that read those.
    ClaudeStreamJson,
}

/// What `neco` can do besides a run.
#[derive(Debug, Subcommand)]
pub enum Subcommands {
    /// Continues the session with this id, or one that you choose from a list
    Resume(Box<ResumeArgs>),
    /// Runs one request and ends, as -m does
    #[command(visible_alias = "exec", override_usage = "neco run [OPTIONS] [MESSAGE]")]
    Run(Box<RunArgs>),
    /// Opens the terminal window, as neco alone does
    #[command(hide = true)]
    Chat(Box<RunArgs>),
    /// Lists, shows, searches, forks, rewinds, exports and deletes sessions
    #[command(subcommand, alias = "sessions")]
    Session(SessionCommand),
    /// Adds a key, or logs in with a browser where a provider has that
    Login {
        /// The provider, such as openai, anthropic or github-copilot
        provider: Option<String>,
    },
    /// Removes the keys and the login of a provider
    Logout {
        /// The provider
        provider: Option<String>,
    },
    /// Lists and shows models, and tests whether they answer
    #[command(subcommand, alias = "models")]
    Model(ModelCommand),
    /// Shows and sets settings, and says where they come from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Checks models, keys, the store and the terminal, and says how to fix what is wrong
    Doctor(JsonArg),
    /// Writes AGENTS.md: how this project is built, tested and laid out
    Init(Box<InitArgs>),
    /// Takes over the set-up of another agent: Claude Code, Codex, Gemini CLI, opencode, Cursor, OpenClaw
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
    /// Lists, adds, searches, edits and deletes what is remembered between sessions
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Lists, shows and closes unfinished plans
    #[command(subcommand)]
    Plan(PlanCommand),
    /// Lists, shows and checks agents; messages, pauses and stops running ones
    #[command(subcommand, alias = "agent")]
    Agents(AgentsCommand),
    /// Runs, lists, shows and resumes workflows: tasks that depend on each other
    #[command(subcommand)]
    Workflow(Box<WorkflowCommand>),
    /// Lists, adds, removes and tests MCP servers
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Works in editors that speak ACP: Zed, JetBrains, Neovim, Emacs
    #[command(after_help = ACP)]
    Acp(Box<AcpArgs>),
    /// Holds sessions that outlive windows, and serves them over HTTP
    #[command(after_help = SERVE)]
    Serve(Box<ServeArgs>),
    /// Opens Neco in the browser
    #[command(after_help = WEB)]
    Web(WebArgs),
    /// Opens a window on a session of a server elsewhere, or follows one that another process has open
    Attach {
        /// The server's address, such as http://127.0.0.1:7420, or the id of a session
        #[arg(value_name = "URL|ID")]
        target: String,
        /// The session of the server; without it you choose from a list
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Lists what the server works on in the background
    Ps(JsonArg),
    /// Shows what was said in a session of the background; -f follows it
    Logs(LogsArgs),
    /// Stops the work of a session of the background; what was said is saved
    Stop {
        /// The session's id, or four characters that no other has
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Lists, shows, checks, writes and adds skills: guides for a kind of task
    #[command(subcommand, alias = "skills")]
    Skill(SkillCommand),
    /// Installs, lists, updates and switches plugins, which bring skills, commands, tools and more as one
    #[command(subcommand, alias = "plugins")]
    Plugin(PluginCommand),
    /// Lists the tools of agents in this folder, and where they come from
    #[command(subcommand, alias = "tool")]
    Tools(ToolsCommand),
    /// Shows the permission rules, explains a decision, and tests your rules
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Shows the hooks and rules a folder would switch on, and trusts it or not
    Trust(TrustArgs),
    /// Adds, lists and removes keys and logins
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Shows exactly what is sent to a model, and how many tokens each part takes
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// The terminal window as plain lines: for dumb terminals and screen readers
    Repl(Box<RunArgs>),
    /// Shows a whole task in the window, offline
    Demo {
        /// Prints lines instead of opening the window
        #[arg(long)]
        plain: bool,
        /// Keeps the sample project instead of removing it
        #[arg(long)]
        keep: bool,
    },
    /// Has models solve tasks with a check, and shows how they did
    ///
    /// Each run has a fresh folder and a session of its own. Task files run commands: set-up and check are run as if you
    /// had typed them, in the sandbox that the agent's commands have.
    #[command(after_help = EVAL)]
    Eval(Box<EvalArgs>),
    /// Prints completions for a shell
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_parser = clap::value_parser!(Shell), value_name = "SHELL")]
        shell: Shell,
    },
    /// Prints the manual page: neco man | man -l -
    Man,
}

/// `neco resume …`
#[derive(Clone, Debug, Default, Args)]
pub struct ResumeArgs {
    /// A session's id, or four characters that no other has; without it you choose from a list
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// The last session of this folder
    #[arg(long)]
    pub last: bool,
    /// What is asked of it
    #[command(flatten)]
    pub run: RunArgs,
}

/// Whether a program reads what is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct JsonArg {
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

impl RunArgs {
    /// The message of `-m` or of bare words.
    pub fn message(&self) -> Option<String> {
        self.message.clone().or_else(|| (!self.words.is_empty()).then(|| self.words.join(" ")))
    }

    /// Whether the session is to be chosen from a list.
    pub fn picks(&self) -> bool {
        self.resume.is_some()
    }

    /// The approval mode that the flags ask for.
    pub fn approval(&self) -> Option<ApprovalMode> {
        match self.approval {
            None if self.yes => Some(ApprovalMode::Auto),
            approval => approval,
        }
    }
}

/// Nothing is stopped by a budget that is no amount.
pub fn dollars(text: &str) -> Result<f64, &'static str> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) | Err(_) => Err("give an amount above 0, such as 0.50"),
    }
}

/// A number of turns: none at all would ask nobody.
pub fn at_least_one(text: &str) -> Result<u32, &'static str> {
    let number = text.trim().parse::<u32>().ok().filter(|number| *number > 0);
    number.ok_or("give a whole number, at least 1")
}

/// A number of seconds, or of minutes or hours with the letter behind it.
pub fn duration(text: &str) -> Result<Duration, &'static str> {
    let number = text.trim().trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let each = text.trim().strip_prefix(number).unwrap_or_default();
    let each = match each {
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("give a time such as 90, 90s, 10m or 1h"),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * each).filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or("give a time above 0, such as 90, 90s, 10m or 1h")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &[&str]) -> Result<CommandLine, clap::Error> {
        CommandLine::try_parse_from([&["neco"], line].concat())
    }

    fn run(line: &[&str]) -> RunArgs {
        parse(line).unwrap().run
    }

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_message_can_be_written_four_ways() {
        for line in [&["-m", "fix it"][..], &["-p", "fix it"], &["fix it", "--print"], &["fix", "it"], &["fix it"]] {
            assert_eq!(run(line).message().as_deref(), Some("fix it"), "{line:?}");
        }
        assert_eq!(run(&["--yes"]).message(), None);
        assert_eq!(run(&["explain", "config", "show"]).message().as_deref(), Some("explain config show"));
    }

    #[test]
    fn flags_mean_what_they_say() {
        let args = run(&["-m", "x", "--yes", "--mode", "ask", "--tools", "read_file,grep", "--max-turns", "3"]);
        assert_eq!((args.approval(), args.mode), (Some(ApprovalMode::Auto), Some(Mode::Ask)));
        assert_eq!(args.tools, Some(vec!["read_file".to_owned(), "grep".to_owned()]));
        assert_eq!(args.max_turns, Some(3));
        assert_eq!(run(&["-m", "x", "--approval", "ask_first"]).approval(), Some(ApprovalMode::AskFirst));
        let line = parse(&["config", "show", "-c", "model=a/b", "--cwd", "/tmp"]).unwrap();
        assert_eq!(line.everywhere.overrides, ["model=a/b"]);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for line in [
            &["-m", "x", "--session", "a", "--continue"][..],
            &["-m", "x", "--yes", "--approval", "manual"],
            &["-m", "x", "--max-turns", "0"],
            &["-m", "x", "--session", ""],
            &["-m", "x", "--model", ""],
            &["-m", "x", "--mode", "dance"],
            &["-m", "x", "--no-such-flag"],
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }

    #[test]
    fn the_help_lists_the_tools_there_are() {
        let indexes = neco_app::services::indexes(Path::new("data"));
        // Those that only look others up need not be named.
        let declare = neco_config::section::Declare::All;
        let settings = neco_config::section::ToolsSection { declare, ..neco_config::Config::built_in().tools };
        let registry = neco_app::services::all_tools(&settings, &indexes);
        let names: Vec<&str> = registry.iter().map(|tool| tool.name()).collect();
        assert!(help::TOOLS.ends_with(&names.join(", ")), "{names:?}");
    }
}
