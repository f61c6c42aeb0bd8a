//! What can be written after `neco workflow`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand};

use crate::args::{ApprovalArg, OutputFormat, RunArgs};
use crate::rule_args::RuleArgs;

const RUN: &str = "\
Examples:
  neco workflow run delivery --input goal=\"a --json flag for `list`\" --input check=\"cargo test\"
  neco workflow run ci.yaml -y --output-format json

A value is of the kind that the input's default has (a number, true or false, JSON); without one it is text.
Ctrl-C interrupts the workflow so that `neco workflow resume` can go on with it.
Exit codes: 0 when every task is completed, 1 when some failed, 2 when it can't run, 3 when what an agent or a task wanted last was refused.";

/// `neco workflow …`
#[derive(Debug, Subcommand)]
pub enum WorkflowCommand {
    /// Runs a workflow in a session of its own
    #[command(after_help = RUN)]
    Run(WorkflowRunArgs),
    /// Lists the workflows there are, and the runs of them in this folder, newest first
    List {
        /// The runs of all folders
        #[arg(long)]
        all: bool,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows a workflow, or how a run of one stands
    Show {
        /// The name of a workflow, its file, or the beginning of a run's id
        what: String,
        /// All that this task of the run gave
        #[arg(long, value_name = "NAME")]
        task: Option<String>,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Goes on with a run: what is completed stays, all else is done again
    Resume {
        /// The beginning of the run's id
        id: String,
        #[command(flatten)]
        how: HowArgs,
    },
    /// Ends a run for good, with everything it started
    Cancel {
        /// The beginning of the run's id
        id: String,
    },
    /// Checks workflows without running anything
    Validate {
        /// Files, or names of workflows
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
}

/// `neco workflow run …`
#[derive(Debug, Args)]
pub struct WorkflowRunArgs {
    /// The workflow: a .toml or .yaml file, or a name
    #[arg(value_name = "FILE|NAME")]
    pub workflow: String,
    /// What it is started with; may be repeated
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub inputs: Vec<String>,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How the agents of a workflow work.
#[derive(Clone, Debug, Default, Args)]
pub struct HowArgs {
    /// The model or model group that is asked where a role has none of its own
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// When you are asked
    #[arg(long, value_enum)]
    pub approval: Option<ApprovalArg>,
    /// The same as --approval auto
    #[arg(short, long, conflicts_with = "approval")]
    pub yes: bool,
    /// Stops when the session has cost so many US dollars
    #[arg(long, value_name = "USD")]
    pub max_cost: Option<f64>,
    #[command(flatten)]
    pub rules: RuleArgs,
    /// text: what happens on stderr, what came of it on stdout; json: one object at the end;
    /// stream-json: one event a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub output_format: OutputFormat,
}

impl HowArgs {
    /// The same as the flags of a request, in a new session or in that of an id.
    #[must_use]
    pub fn run_args(&self, session: Option<String>) -> RunArgs {
        RunArgs {
            session,
            model: self.model.clone(),
            approval: self.approval,
            yes: self.yes,
            max_cost: self.max_cost.filter(|amount| amount.is_finite() && *amount > 0.0),
            rules: self.rules.clone(),
            output_format: self.output_format,
            ..RunArgs::default()
        }
    }
}

/// `neco agents …`
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Lists the agents that can do a part of the work, and where they are defined
    List {
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows who an agent is: its prompt, tools, model and limits
    Show {
        /// Its name
        name: String,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Checks definitions: those of this folder and yours, or the files named
    Validate {
        /// Files
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Shows who works in the session that runs here, or all about one of them
    #[command(after_help = AT_WORK)]
    Status {
        /// Its name, such as explore-1, or the beginning of its id
        agent: Option<String>,
        #[command(flatten)]
        which: WhichSession,
        /// Prints JSON
        #[arg(long)]
        json: bool,
    },
    /// Gives an agent at work something more to do, after what it does now
    #[command(after_help = AT_WORK)]
    Tell(TextArgs),
    /// Corrects an agent at work: it sees it at its next turn
    #[command(after_help = AT_WORK)]
    Redirect(TextArgs),
    /// Answers the question of an agent at work
    #[command(after_help = AT_WORK)]
    Answer(TextArgs),
    /// Lets an agent and everybody below it do nothing for now
    #[command(after_help = AT_WORK)]
    Pause {
        /// Its name, such as explore-1, or the beginning of its id
        agent: String,
        #[command(flatten)]
        which: WhichSession,
    },
    /// Lets an agent go on that is paused
    #[command(after_help = AT_WORK)]
    Resume {
        /// Its name, such as explore-1, or the beginning of its id
        agent: String,
        #[command(flatten)]
        which: WhichSession,
    },
    /// Ends an agent and everybody below it, with every process they started
    #[command(after_help = AT_WORK)]
    Cancel {
        /// Its name, such as explore-1, or the beginning of its id
        agent: String,
        #[command(flatten)]
        which: WhichSession,
    },
    /// Changes the model, budget or tools of an agent at work: model=NAME tokens=COUNT cost=USD tools=A,B
    #[command(after_help = AT_WORK)]
    Set(TextArgs),
}

const AT_WORK: &str = "\
The session is the one that a process has open in this folder; --session names another.
In a window or the repl the same is written /agents VERB AGENT …
Exit codes: 0 when it is done, 1 when it can't be done now, 2 when nothing runs or there is no such agent.";

/// Which session is meant.
#[derive(Clone, Debug, Default, Args)]
pub struct WhichSession {
    /// The beginning of the id of a session that runs; without it the one of this folder
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// An agent and words for it.
#[derive(Clone, Debug, Args)]
pub struct TextArgs {
    /// Its name, such as explore-1, or the beginning of its id
    pub agent: String,
    /// What it is told
    #[arg(required = true)]
    pub text: Vec<String>,
    #[command(flatten)]
    pub which: WhichSession,
}
