//! What can be written on the command line about sessions.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};
use jiff::{Timestamp, Zoned};
use neco_proto::app::port::{ExportFormat, Program};
use neco_view::moment::NoMoment;

use crate::args::{Choices, JsonArg, OutputFormat, RunArgs, one_of};

const LIST: &str = "\
Times are written 30min, 12h, 7d, 4w, today, yesterday, 2026-11-15 or 2026-11-15T09:30Z.";

const SEARCH: &str = "\
All words must be in one message, result or title; \"two words\" in quotes must stand together, and
word* finds every word that begins with it.
Examples:
  neco session search login test
  neco session search '\"connection refused\"' --since 7d
  neco session search 数据库 --here";

const RESUME: &str = "\
Examples:
  neco session resume                      the last session of this folder
  neco session resume c41f2 and now the docs
  neco session resume --yes                the same without being asked
Opens the terminal window; without a terminal the agent continues where it stopped, or with the words. The
same as neco resume ID, which without ID lets you choose.";

const FORK: &str = "\
A fork begins with everything that was said before the message; the session it comes from stays as it is.
Examples:
  neco session fork                        the last session of this folder, with everything that was said
  neco session fork c41f2                  everything that was said so far
  neco session fork c41f2 --at 3 --name \"without redis\"";

const REWIND: &str = "\
Without --to the messages are listed that you can rewind to. What would change is shown first: the
messages that are removed from the conversation, the files that are restored, and which of those you or
another program changed since. Nothing is lost: --undo undoes it, --redo redoes it.
Examples:
  neco session rewind c41f2                lists the messages
  neco session rewind c41f2 --to 3         to before the third, conversation and files
  neco session rewind c41f2 --to 3 --conversation
  neco session rewind c41f2 --undo";

const DIFF: &str = "\
A point is the number of a message (the files as they were when it was said), the beginning of a
checkpoint's name (`neco session log ID` prints them), `end` (as the work of the session left them), or
`now`.
Examples:
  neco session diff                        all that changed in the last session of this folder
  neco session diff c41f2                  all that changed since the first message
  neco session diff c41f2 3                since the third
  neco session diff c41f2 3 5              between the third and the fifth";

const HISTORY: &str = "\
An exchange is a message of yours and all that was done about it. Each is a commit in the repository of
this folder's checkpoints, which the last line names for git; `-` marks those that were rewound.
Examples:
  neco session history                     the last session of this folder
  neco session history c41f2 --json";

const RESTORE: &str = "\
Makes a session out of what is kept of it with the checkpoints, as when the store of sessions was lost. It
can be resumed like any other; what is not in it is said.
Examples:
  neco session restore                     lists the sessions that are kept for this folder
  neco session restore c41f2
  neco session restore 3f2a91c0de          up to that exchange of neco session history
  neco session restore c41f2 --from /backup/neco/checkpoints/5d0c4b9ad5b2a1f0";

const PRUNE: &str = "\
Open sessions stay, and so does what forks need of deleted ones. Checkpoints older than checkpoints.keep_days
are deleted too. Without --older-than and --keep nothing is deleted, and what takes space is shown.
Examples:
  neco session prune                       the oldest and the biggest
  neco session prune --older-than 90d --dry-run
  neco session prune --older-than 30d --keep 20 --yes";

const EXPORT: &str = "\
jsonl holds every event and can be imported again, here or elsewhere; markdown is for a pull request or
a bug report; html is one page to read, without scripts and without network. Keys that are known or look
like keys are removed, as in the log.
At a terminal it writes neco-ID.md into this folder; into a pipe or a file of the shell it writes jsonl.
Examples:
  neco session export                      the last session of this folder, to neco-ID.md
  neco session export -o session.html      the last session of this folder, to read
  neco session export c41f2 -o bug.md
  neco session export c41f2 > session.jsonl";

const IMPORT: &str = "\
Reads what Neco exported, and sessions of Claude Code, Codex, Gemini CLI, opencode and OpenClaw. The
session can be resumed here like any other; the other program's files stay as they are.
Examples:
  neco session import session.jsonl
  neco session import ~/.codex/sessions/2026/01/02/rollout-….jsonl
  neco session import --from claude-code         lists those of this folder, and asks which
  neco session import --from codex 1 3           the first and the third of that list
  neco session import --from opencode all";

/// The formats that sessions are written in.
const FORMATS: &Choices<ExportFormat> = &[
    (ExportFormat::Jsonl, "jsonl", "Every event, one a line"),
    (ExportFormat::Yaml, "yaml", "Every event in one document, for other programs"),
    (ExportFormat::Yaml, "yml", ""),
    (ExportFormat::Markdown, "markdown", "For a pull request or a bug report"),
    (ExportFormat::Markdown, "md", ""),
    (ExportFormat::Html, "html", "One page to read"),
    (ExportFormat::Html, "htm", ""),
];
/// The programs whose sessions are taken in, and what those lie in; Neco itself is the first.
const PROGRAMS: &Choices<Program> = &[
    (Program::Neco, "neco", "Neco itself"),
    (Program::ClaudeCode, "claude-code", "Claude Code: .claude/projects/…/ID.jsonl"),
    (Program::Codex, "codex", "Codex: .codex/sessions/…/rollout-….jsonl"),
    (Program::GeminiCli, "gemini-cli", "Gemini CLI: .gemini/tmp/…/chats/session-….jsonl or .json"),
    (Program::Opencode, "opencode", "opencode: what `opencode export` prints, or its database"),
    (Program::Openclaw, "openclaw", "OpenClaw: .openclaw/agents/…/sessions/ID.jsonl"),
];
const FOREIGN: &Choices<Program> = PROGRAMS.split_at(1).1;

/// `neco session …`
#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// Lists the sessions of this folder, newest first
    #[command(after_help = LIST, visible_alias = "ls")]
    List(ListArgs),
    /// Shows the conversation of a session
    Show {
        /// The session's id, or a part of it; without it the last one of this folder
        id: Option<String>,
        /// What an agent below the root said and did instead: its name, such as explore-1, or the beginning of its id
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Prints the events, one JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// Continues a session
    #[command(after_help = RESUME, override_usage = "neco session resume [OPTIONS] [ID] [WORDS]")]
    Resume(Box<ResumeArgs>),
    /// Searches what was said, in all sessions, newest first
    #[command(after_help = SEARCH)]
    Search(SearchArgs),
    /// Gives a session a title, which no model replaces
    Rename {
        /// The session's id, or a part of it
        id: String,
        /// The title
        #[arg(required = true, value_name = "TITLE")]
        title: Vec<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Exports a session to a file: JSONL, Markdown or HTML
    #[command(after_help = EXPORT)]
    Export(ExportArgs),
    /// Imports a session that Neco exported, or one of another agent
    #[command(after_help = IMPORT)]
    Import(ImportArgs),
    /// Forks a session, at its end or before any message
    #[command(after_help = FORK)]
    Fork(ForkArgs),
    /// Rewinds to before any message: the conversation, the files, or both
    #[command(after_help = REWIND)]
    Rewind(RewindArgs),
    /// Shows what changed in the files between two points of a session
    #[command(after_help = DIFF)]
    Diff {
        /// The session's id, or a part of it; without it the last one of this folder
        id: Option<String>,
        /// From here; without it from the first message
        #[arg(value_name = "A")]
        from: Option<String>,
        /// To here; without it to now
        #[arg(value_name = "B")]
        to: Option<String>,
        /// Only the names of the files
        #[arg(long)]
        stat: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Lists the exchanges of a session in the repository of its checkpoints: commit, time, message
    #[command(after_help = HISTORY)]
    History {
        /// The session's id, or a part of it; without it the last one of this folder
        id: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Restores a session from the repository of checkpoints, without the store of sessions
    #[command(after_help = RESTORE)]
    Restore(RestoreArgs),
    /// Deletes sessions
    #[command(alias = "delete", alias = "remove")]
    Rm {
        /// Their ids, or parts of them
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Deletes without asking
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Deletes sessions that were not used for long, of all folders
    #[command(after_help = PRUNE)]
    Prune(PruneArgs),
    /// Watches a session that another terminal has open, live; what is asked can be answered here too
    Attach {
        /// The session's id, or a part of it
        id: String,
        /// How it is printed: text, json or stream-json
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
        output_format: OutputFormat,
    },
    /// Shows the agents of a session: who started whom, how they stand, what they used and gave
    Tree {
        /// The session's id, or a part of it; without it the last one of this folder
        id: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Prints the log of a session, event by event
    Log {
        /// The session's id, or a part of it; without it the last one of this folder
        id: Option<String>,
        /// Prints JSON, one event a line
        #[arg(long)]
        json: bool,
        /// Only events after this number
        #[arg(long, value_name = "N", default_value_t = 0)]
        after: u64,
    },
}

/// Which session goes on, and with what.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The session's id, or a part of it; without it the last one of this folder
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// What is asked of it; without a message the agent continues where it stopped
    #[command(flatten)]
    pub run: RunArgs,
}

/// Which sessions are listed.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Lists those of all folders
    #[arg(long)]
    pub all: bool,
    /// Those of this folder, as without it
    #[arg(long, conflicts_with = "all")]
    pub here: bool,
    /// Only those used since then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// The most sessions to list
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: usize,
    /// Shows how much space each takes, too
    #[arg(long)]
    pub size: bool,
    /// Lists the folders that sessions worked in instead, the one used last first
    #[arg(long, conflicts_with_all = ["here", "since", "size"])]
    pub folders: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// What is searched, and where.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Words to search for
    #[arg(required = true, value_name = "WORDS")]
    pub words: Vec<String>,
    /// Only in sessions of this folder
    #[arg(long)]
    pub here: bool,
    /// In those of all folders, as without it
    #[arg(long, conflicts_with = "here")]
    pub all: bool,
    /// Only what was said since then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub since: Option<Timestamp>,
    /// Only what was said before then
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub until: Option<Timestamp>,
    /// The most matches to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    #[command(flatten)]
    pub json: JsonArg,
}

/// How a session is forked.
#[derive(Debug, Args)]
pub struct ForkArgs {
    /// The session's id, or a part of it; without it the last one of this folder
    pub id: Option<String>,
    /// Forks before this message: its number, or the beginning of its id; without it after everything
    #[arg(long, value_name = "MESSAGE")]
    pub at: Option<String>,
    /// The title of the fork
    #[arg(long, value_name = "TITLE")]
    pub name: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}

/// What is made a session again.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// A part of the session's id, or the beginning of a commit's name; without it they are listed
    pub id: Option<String>,
    /// Another store of checkpoints than this folder's, such as one of a backup
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// Restores it again, as a second session
    #[arg(long, requires = "id")]
    pub again: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// How far a session goes back, and with what.
#[derive(Debug, Args)]
pub struct RewindArgs {
    /// The session's id, or a part of it; without it the last one of this folder
    pub id: Option<String>,
    /// Rewinds to before this message: its number, or the beginning of its id. With the beginning of a
    /// checkpoint's name, or `end`, the files are restored to that state
    #[arg(long, value_name = "MESSAGE")]
    pub to: Option<String>,
    /// Only the conversation; files stay as they are
    #[arg(long, group = "what", requires = "to")]
    pub conversation: bool,
    /// Only the files; the conversation stays
    #[arg(long, group = "what", requires = "to")]
    pub files: bool,
    /// The conversation and the files, as without it
    #[arg(long, group = "what", requires = "to")]
    pub both: bool,
    /// Undoes the last rewind, again the one before it; when none is left, redoes the last undo
    #[arg(long, conflicts_with_all = ["to", "what"])]
    pub undo: bool,
    /// Redoes what --undo undid
    #[arg(long, conflicts_with_all = ["to", "what", "undo"])]
    pub redo: bool,
    /// Rewinds without asking; refused where it would overwrite changes that are not the agent's
    #[arg(short, long)]
    pub yes: bool,
    /// Overwrites changes that are not the agent's, too, also in files that it never touched
    #[arg(long)]
    pub others: bool,
    /// Only shows what would change
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Which sessions go.
#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Those not used since then
    #[arg(long, value_name = "TIME", value_parser = moment, action = ArgAction::Set)]
    pub older_than: Option<Timestamp>,
    /// This many of the newest of each folder stay
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Only those of this folder; without it of all folders
    #[arg(long)]
    pub here: bool,
    /// Only shows what would be deleted
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Deletes without asking
    #[arg(short, long)]
    pub yes: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

impl PruneArgs {
    /// Whether nothing is removed: it is not said what may go, or what would go is only asked.
    pub fn only_shows(&self) -> bool {
        self.dry_run || (self.older_than.is_none() && self.keep.is_none())
    }
}

/// What is taken out, and how.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The session's id, or a part of it; without it the last one of this folder
    pub id: Option<String>,
    /// The format; otherwise the ending of the file says it, and in a pipe it is jsonl
    #[arg(long, value_parser = one_of(FORMATS), value_name = "FORMAT")]
    pub format: Option<ExportFormat>,
    /// Writes to this file, or to stdout with `-`; at a terminal without it: neco-ID.md
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Writes over a file that is there
    #[arg(long)]
    pub force: bool,
    /// Exports the log as it is, even keys that became known since
    #[arg(long)]
    pub no_redact: bool,
}

/// What is taken in, and from where.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files, or `-` for stdin; with --from numbers of its list, beginnings of ids, or `all`
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub which: Vec<String>,
    /// The program that wrote the file, if that is not plain from it
    #[arg(long, value_name = "PROGRAM", conflicts_with = "from", value_parser = one_of(PROGRAMS))]
    pub format: Option<Program>,
    /// Looks for the sessions of this folder where this program keeps them
    #[arg(long, value_name = "PROGRAM", value_parser = one_of(FOREIGN))]
    pub from: Option<Program>,
    /// Imports it again, as a second session
    #[arg(long)]
    pub again: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

fn moment(text: &str) -> Result<Timestamp, NoMoment> {
    neco_view::moment::moment(text, &Zoned::now())
}
