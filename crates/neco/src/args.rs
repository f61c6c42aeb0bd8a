//! What can be written on the command line, and what it means.

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use neco_proto::{ApprovalMode, Mode};

use crate::help;

/// The command line as it was written.
#[derive(Debug, Parser)]
#[command(
    name = "neco",
    version,
    about = "Neco is a coding agent: it reads, edits and runs what your task needs, and asks before it does harm.",
    after_help = help::SHORT,
    after_long_help = help::LONG,
    override_usage = "neco [OPTIONS] -m TEXT\n       neco [OPTIONS] COMMAND",
    max_term_width = 100
)]
pub struct CommandLine {
    /// What is asked when no subcommand is named.
    #[command(flatten)]
    pub run: RunArgs,
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
    /// Sets a setting for this run; may be repeated
    #[arg(short = 'c', value_name = "KEY=VALUE", global = true, action = ArgAction::Append)]
    pub overrides: Vec<String>,
    /// Works in this folder instead of the current one
    #[arg(long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// Writes a log file and says where it is
    #[arg(long, global = true)]
    pub debug: bool,
}

/// One request to the agent.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct RunArgs {
    /// What the agent is asked; `neco "…"` works too, and piped stdin is added to it
    #[arg(short, long, value_name = "TEXT", short_alias = 'p', alias = "print", conflicts_with = "words")]
    pub message: Option<String>,
    /// The same as -m
    #[arg(value_name = "MESSAGE", hide = true)]
    pub words: Vec<String>,
    /// Goes on with the session whose id begins with this
    #[arg(long, value_name = "ID", conflicts_with_all = ["continue_latest", "cwd"])]
    pub session: Option<String>,
    /// Goes on with the last session of this folder
    #[arg(short = 'C', long = "continue")]
    pub continue_latest: bool,
    /// The model or model group to ask: provider/model, or a group's name
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// agent: all tools; ask: answers questions, writes and runs nothing
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// When you are asked: only for what is critical, before writes and commands, or before
    /// everything that does more than read
    #[arg(long, value_enum)]
    pub approval: Option<ApprovalArg>,
    /// The same as --approval auto
    #[arg(short, long, conflicts_with = "approval")]
    pub yes: bool,
    /// Only these tools exist for the agent, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub tools: Option<Vec<String>>,
    /// Stops after so many turns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,
    /// Stops when the session has cost so many US dollars, as far as prices are known
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,
    /// text: the answer on stdout, all else on stderr; json: one object at the end;
    /// stream-json: one event a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub output_format: OutputFormat,
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
}

/// [`Mode`] as a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// All tools.
    Agent,
    /// Nothing is written or run.
    Ask,
}

/// [`ApprovalMode`] as a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ApprovalArg {
    /// Only for what is critical.
    Auto,
    /// Before files are written and commands are run.
    AskFirst,
    /// Before everything that does more than read.
    Manual,
}

/// What `neco` can do besides a run.
#[derive(Debug, Subcommand)]
pub enum Subcommands {
    /// Shows settings and where they come from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Lists sessions and shows what was said in them
    #[command(subcommand)]
    Session(SessionCommand),
    /// Checks models, keys, the store and the terminal, and says how to fix what is wrong
    Doctor(JsonArg),
    /// Shows a whole task, offline, with a scripted model and real tools
    Demo {
        /// Keeps the sample project instead of removing it
        #[arg(long)]
        keep: bool,
    },
}

/// `neco config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Prints every setting that has a value
    Show {
        /// Adds where each value comes from
        #[arg(long)]
        origin: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Prints the files that settings are read from
    Path,
}

/// `neco session …`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Lists the sessions of this folder, newest first
    List {
        /// Those of all folders
        #[arg(long)]
        all: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows the conversation of a session
    Show {
        /// The session's id, or its beginning
        id: String,
        /// Prints the events, one JSON object a line
        #[arg(long)]
        json: bool,
    },
}

/// `--json` alone.
#[derive(Debug, Args)]
pub struct JsonArg {
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

impl CommandLine {
    /// Reads the command line of this process; ends it when help was asked for or a flag is wrong.
    #[must_use]
    pub fn of_process() -> Self {
        let line = Self::parse();
        match line.misuse() {
            Some(words) => Self::command().error(clap::error::ErrorKind::ArgumentConflict, words).exit(),
            None => line,
        }
    }

    /// What is wrong with the line although each part of it is fine.
    fn misuse(&self) -> Option<String> {
        if self.command.is_some() {
            let words = "a subcommand can't be combined with -m or other flags of a run";
            return (self.run != RunArgs::default()).then(|| words.to_owned());
        }
        let (written, meant) = self.run.misspelt_subcommand()?;
        let line = self.run.words.join(" ");
        Some(format!(
            "there is no subcommand `{written}`; did you mean `{meant}`? A message is written neco -m \"{line}\""
        ))
    }
}

impl RunArgs {
    /// The message of `-m` or of bare words.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        self.message.clone().or_else(|| (!self.words.is_empty()).then(|| self.words.join(" ")))
    }

    /// The approval mode that the flags ask for.
    #[must_use]
    pub fn approval(&self) -> Option<ApprovalMode> {
        match self.approval {
            None if self.yes => Some(ApprovalMode::Auto),
            None => None,
            Some(ApprovalArg::Auto) => Some(ApprovalMode::Auto),
            Some(ApprovalArg::AskFirst) => Some(ApprovalMode::AskFirst),
            Some(ApprovalArg::Manual) => Some(ApprovalMode::Manual),
        }
    }

    /// The mode that the flags ask for.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        self.mode.map(|mode| match mode {
            ModeArg::Agent => Mode::Agent,
            ModeArg::Ask => Mode::Ask,
        })
    }

    /// The subcommand that a bare word was probably meant to be. Only short lines are doubted: a
    /// sentence is a message.
    fn misspelt_subcommand(&self) -> Option<(String, String)> {
        let first = self.words.first().filter(|_| self.words.len() <= 3)?;
        let likely = |name: &str| {
            let distance = strsim::damerau_levenshtein(first, name);
            0 < distance && distance <= if name.len() > 5 { 2 } else { 1 }
        };
        let command = CommandLine::command();
        let meant = command.get_subcommands().map(clap::Command::get_name).find(|name| likely(name))?;
        Some((first.clone(), meant.to_owned()))
    }
}

/// Nothing is stopped by a budget that is no amount.
fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount > 0.0 => Ok(amount),
        Ok(_) | Err(_) => Err("give an amount above 0, such as 0.50".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<CommandLine, clap::Error> {
        CommandLine::try_parse_from([&["neco"], line].concat())
    }

    fn misuse(line: &[&str]) -> Option<String> {
        parse(line).unwrap().misuse()
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
        for line in [&["-m", "fix it"][..], &["-p", "fix it"], &["--print", "fix it"], &["fix", "it"], &["fix it"]] {
            assert_eq!(run(line).message().as_deref(), Some("fix it"), "{line:?}");
        }
        assert_eq!(run(&["--yes"]).message(), None);
        assert!(parse(&["-m", "one", "two"]).is_err());
    }

    #[test]
    fn flags_mean_what_they_say() {
        let args = run(&["-m", "x", "--yes", "--mode", "ask", "--tools", "read_file,grep", "--max-turns", "3"]);
        assert_eq!((args.approval(), args.mode()), (Some(ApprovalMode::Auto), Some(Mode::Ask)));
        assert_eq!(args.tools, Some(vec!["read_file".to_owned(), "grep".to_owned()]));
        assert_eq!(args.max_turns, Some(3));
        assert_eq!(run(&["-m", "x", "--approval", "ask_first"]).approval(), Some(ApprovalMode::AskFirst));
        let line = parse(&["config", "show", "-c", "model=a/b", "--cwd", "/tmp"]).unwrap();
        assert_eq!(line.everywhere.overrides, ["model=a/b"]);
    }

    #[test]
    fn settings_may_stand_before_a_subcommand_but_a_message_may_not() {
        let line = parse(&["-c", "model=a/b", "config", "show"]).unwrap();
        assert!(matches!(line.command, Some(Subcommands::Config(ConfigCommand::Show { .. }))));
        assert_eq!(line.misuse(), None);
        assert!(misuse(&["-m", "x", "doctor"]).is_some());
        assert_eq!(run(&["explain", "config", "show"]).message().as_deref(), Some("explain config show"));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for line in [
            &["-m", "x", "--session", "a", "--continue"][..],
            &["-m", "x", "--session", "a", "--cwd", "/"],
            &["-m", "x", "--yes", "--approval", "manual"],
            &["-m", "x", "--max-turns", "0"],
            &["-m", "x", "--mode", "plan"],
            &["-m", "x", "--no-such-flag"],
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line:?}");
        }
    }

    #[test]
    fn a_misspelt_subcommand_is_not_taken_for_a_message() {
        let meant = |line: &[&str]| run(line).misspelt_subcommand().map(|(_, meant)| meant);
        assert!(misuse(&["sesion", "list"]).unwrap().contains("neco -m \"sesion list\""));
        assert_eq!(meant(&["sesion", "list"]).as_deref(), Some("session"));
        assert_eq!(meant(&["doctr"]).as_deref(), Some("doctor"));
        assert_eq!(meant(&["demi"]).as_deref(), Some("demo"));
        assert_eq!(meant(&["fix", "the", "test"]), None);
        assert_eq!(meant(&["sesion is a word that I misspelt"]), None);
        assert_eq!(meant(&["section", "three", "needs", "work"]), None);
    }
}
