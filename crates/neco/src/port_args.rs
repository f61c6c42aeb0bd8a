//! What can be written on the command line about taking sessions out and in.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use neco_proto::app::port::Program;

/// After `neco session export --help`.
pub const EXPORT: &str = "\
jsonl holds every event and can be imported again, here or elsewhere; markdown is for a pull request or
a bug report; html is one page to read, without scripts and without network. Keys that are known or look
like keys are taken out, as they are when something is logged.
Examples:
  neco session export -o session.html      the last session of this folder, to read
  neco session export 019a8 -o bug.md
  neco session export 019a8 > session.jsonl";

/// After `neco session import --help`.
pub const IMPORT: &str = "\
Reads what Neco exported, and sessions of Claude Code, Codex, Gemini CLI, opencode and OpenClaw. The
session goes on here as if it had been begun here; the other program's files stay as they are.
Examples:
  neco session import session.jsonl
  neco session import ~/.codex/sessions/2026/01/02/rollout-….jsonl
  neco session import --from claude-code         lists those of this folder, and asks which
  neco session import --from codex 1 3           the first and the third of that list
  neco session import --from opencode all";

/// What is taken out, and how.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session's id, or its beginning; without it the last one of this folder
    pub id: Option<String>,
    /// The format; otherwise the ending of the file says it, and without a file it is jsonl
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Writes to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Writes over a file that is there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Gives what is in the log as it is, also keys that became known since
    #[arg(long)]
    pub no_redact: bool,
}

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Every event, one a line
    Jsonl,
    /// For a pull request or a bug report
    #[value(alias = "md")]
    Markdown,
    /// One page to read
    #[value(alias = "htm")]
    Html,
}

impl From<ExportFormat> for neco_proto::app::port::ExportFormat {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::Jsonl => Self::Jsonl,
            ExportFormat::Markdown => Self::Markdown,
            ExportFormat::Html => Self::Html,
        }
    }
}

/// What is taken in, and from where.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files, or `-` for stdin; with --from numbers of its list, beginnings of ids, or `all`
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub which: Vec<String>,
    /// The program that wrote the file, if that is not plain from it
    #[arg(long, value_name = "PROGRAM", conflicts_with = "from", value_parser = programs(Program::ALL))]
    pub format: Option<Program>,
    /// Looks for the sessions of this folder where this program keeps them
    #[arg(long, value_name = "PROGRAM", value_parser = programs(&Program::FOREIGN))]
    pub from: Option<Program>,
    /// Imports it although it is here already, as a second session
    #[arg(long)]
    pub again: bool,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// One of these programs, by its name.
fn programs(these: &'static [Program]) -> impl TypedValueParser<Value = Program> {
    let names = these.iter().map(|program| PossibleValue::new(program.name()).help(told(*program)));
    PossibleValuesParser::new(names)
        .try_map(|name| these.iter().copied().find(|program| program.name() == name).ok_or("no such program"))
}

/// What `--help` says of a program: what its sessions lie in.
fn told(program: Program) -> &'static str {
    match program {
        Program::Neco => "Neco itself",
        Program::ClaudeCode => "Claude Code: .claude/projects/…/ID.jsonl",
        Program::Codex => "Codex: .codex/sessions/…/rollout-….jsonl",
        Program::GeminiCli => "Gemini CLI: .gemini/tmp/…/chats/session-….jsonl or .json",
        Program::Opencode => "opencode: what `opencode export` prints, or its database",
        Program::Openclaw => "OpenClaw: .openclaw/agents/…/sessions/ID.jsonl",
    }
}
