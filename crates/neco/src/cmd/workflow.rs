//! The forms of `neco workflow`.

use std::sync::Arc;

use clap::{ArgAction, Args, Subcommand};
use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::workflows::{
    CancelWorkflow, CancelledWorkflow, CheckWorkflows, ListWorkflows, ShowWorkflow, ShowWorkflowRun, ShownRun,
};
use neco_proto::app::{App, Caller};
use neco_proto::event::WorkflowState;
use neco_proto::{ApprovalMode, Command, WorkflowId, WorkflowOrder};
use neco_session::workflow::{Graph, WorkflowFile};
use neco_tui::line::run::Run;
use neco_tui::line::run::workflow::until_over;
use neco_view::paint::lists::workflows;
use neco_view::workflow_inputs;
use serde_json::Value;

use crate::args::{APPROVALS, EverywhereArgs, JsonArg, OutputFormat, RuleArgs, RunArgs, dollars, one_of};
use crate::cmd::confirm::person;
use crate::cmd::program::{ask_of, ask_once, block_on, folder, print, with_files, with_store};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::{TerminalOpener, wanted};
use crate::run::request::{leave, take_seat};
use crate::say;
use crate::terminal;

const RUN: &str = "\
Examples:
  neco workflow run delivery --input goal=\"a --json flag for `list`\" --input check=\"cargo test\"
  neco workflow run ci.yaml -y --output-format json

A value is of the kind that the input's default has (a number, true or false, JSON); without one it is text.
Ctrl-C interrupts the workflow; `neco workflow resume` resumes it.
Exit codes: 0 every task is completed, 1 some failed, 2 it can't run, 3 what an agent or a task wanted last was refused.";

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
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows a workflow, or the state of a run
    Show {
        /// The name of a workflow, its file, or the beginning of a run's id
        what: String,
        /// All that this task of the run gave
        #[arg(long, value_name = "NAME")]
        task: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Resumes a run: completed tasks stay, the others are done again
    Resume {
        /// The beginning of the run's id
        id: String,
        #[command(flatten)]
        how: HowArgs,
    },
    /// Cancels a run, with everything it started
    Cancel {
        /// The beginning of the run's id
        id: String,
    },
    /// Checks workflows without running anything
    Validate {
        /// Files, or names of workflows
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// `neco workflow run …`
#[derive(Debug, Args)]
pub struct WorkflowRunArgs {
    /// The workflow: a .toml or .yaml file, or a name
    #[arg(value_name = "FILE|NAME")]
    workflow: String,
    /// An input of the workflow; may be repeated
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE", action = ArgAction::Append)]
    inputs: Vec<String>,
    /// What must be written behind --input; taken so that the error can say so.
    #[arg(hide = true)]
    rest: Vec<String>,
    #[command(flatten)]
    how: HowArgs,
}

/// How the agents of a workflow work.
#[derive(Clone, Debug, Default, Args)]
pub struct HowArgs {
    /// The model or model group that is asked where a role has none of its own
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// When you are asked
    #[arg(long, value_parser = one_of(APPROVALS))]
    approval: Option<ApprovalMode>,
    /// Asks only about what is high risk; the same as --approval auto
    #[arg(short, long, conflicts_with = "approval")]
    yes: bool,
    /// Stops when the session has cost this much, as far as prices are known
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    max_cost: Option<f64>,
    #[command(flatten)]
    rules: RuleArgs,
    /// text: what happens on stderr, what came of it on stdout; json: one object at the end;
    /// stream-json: one event a line
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    output_format: OutputFormat,
}

impl HowArgs {
    /// The same as the flags of a request, in a new session or in that of an id.
    fn run_args(&self, session: Option<String>) -> RunArgs {
        RunArgs {
            session,
            model: self.model.clone(),
            approval: self.approval,
            yes: self.yes,
            max_cost: self.max_cost,
            rules: self.rules.clone(),
            output_format: self.output_format,
            ..RunArgs::default()
        }
    }
}

/// Runs `neco workflow …`.
pub fn run(command: &WorkflowCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        WorkflowCommand::Run(args) => begin(args, &folder, everywhere, env),
        WorkflowCommand::Resume { id, how } => resume(id, how, &folder, everywhere, env),
        WorkflowCommand::Validate { files, json } => {
            let request = CheckWorkflows { folder, files: files.clone() };
            let checked = ask_once(&request, everywhere, env)?.workflows;
            print(*json, &checked, || workflows::checked(&checked))?;
            Ok(if checked.iter().all(|one| one.valid) { Exit::Done } else { Exit::Failed })
        }
        WorkflowCommand::List { all, json } => {
            let list = ask_once(&ListWorkflows { folder, all: *all, ..ListWorkflows::default() }, everywhere, env)?;
            print(*json, &list, || workflows::as_lines(&list, *all, Timestamp::now()))
        }
        WorkflowCommand::Show { what, task, json } => {
            let wanted = ShowWorkflow { folder, name: what.clone() };
            let paint = terminal::look_at(env).stdout_paint();
            let shape = workflows::Shape { task: task.as_deref(), json: json.json, paint };
            say::out(&with_files(everywhere, env, async |app| Ok(workflows::text(wanted, &shape, app).await?))?)?;
            Ok(Exit::Done)
        }
        WorkflowCommand::Cancel { id } => {
            let request = CancelWorkflow { run: id.clone() };
            let CancelledWorkflow { run, elsewhere } =
                block_on(with_store(everywhere, env, async |app| ask_of(app, &request).await))?;
            let how = if elsewhere { "told to stop" } else { "cancelled" };
            say::out(&format!("workflow {} is {how}\n", run.name))?;
            Ok(Exit::Done)
        }
    }
}

/// Runs a workflow in a session of its own.
fn begin(args: &WorkflowRunArgs, folder: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let request = ShowWorkflow { folder: folder.to_owned(), name: args.workflow.clone() };
    let shown = ask_once(&request, everywhere, env)?;
    let (name, needed) = (&args.workflow, workflow_inputs::needed(&shown.inputs));
    let hint = format!("neco workflow run {name}{needed}; `neco workflow show {name}` says what each input is.");
    if !args.rest.is_empty() {
        let words = format!("`{}` has no name: inputs are written --input NAME=VALUE", args.rest.join(" "));
        return Err(Failure::usage(words).hint(hint));
    }
    let inputs = workflow_inputs::read(&args.inputs, &shown.inputs)?;
    // What is wrong is said before a session is made for it.
    let lacks_some = shown.inputs.iter().any(|(name, input)| input.default.is_none() && !inputs.contains_key(name));
    let file = WorkflowFile::of_value(&shown.definition);
    let checked = file.and_then(|file| Graph::new(&file, &inputs.clone().into_iter().collect()));
    checked.map_err(|error| match (Failure::usage(error.to_string()), lacks_some) {
        (failure, true) => failure.hint(hint),
        (failure, false) => failure,
    })?;
    let command = Command::RunWorkflow { definition: shown.definition, inputs: Value::Object(inputs) };
    at_work(command, None, args.how.run_args(None), folder, everywhere, env)
}

/// Goes on with a run, in its session.
fn resume(id: &str, how: &HowArgs, folder: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let request = ShowWorkflowRun { run: id.to_owned() };
    let ShownRun { run, .. } = block_on(with_store(everywhere, env, async |app| ask_of(app, &request).await))?;
    match run.state {
        WorkflowState::Running => {
            return Err(Failure::usage(format!("workflow {} is already running, in another process", run.name))
                .hint(format!("`neco session attach {}` shows what it does.", run.session)));
        }
        WorkflowState::Completed | WorkflowState::Cancelled => {
            let words = format!("workflow {} is {} and can't be resumed", run.name, run.state);
            return Err(Failure::usage(words).hint(format!("`neco workflow run {}` runs it again.", run.name)));
        }
        WorkflowState::Interrupted | WorkflowState::Partly | WorkflowState::Failed => {}
    }
    let command = Command::WorkflowCommand { workflow_id: run.workflow_id, order: WorkflowOrder::Resume };
    let args = how.run_args(Some(run.session.to_string()));
    at_work(command, Some(run.workflow_id), args, folder, everywhere, env)
}

fn at_work(
    command: Command,
    id: Option<WorkflowId>,
    args: RunArgs,
    folder: &str,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let tty = (args.output_format == OutputFormat::Text).then(|| person(env)).flatten();
    let runtime = compose::runtime()?;
    let app = Arc::new(TerminalOpener::new(env, tty.is_some(), false)).program(&args, everywhere);
    let wanted = wanted(&args, everywhere, folder.to_owned())?;
    let wanted = OpenSession { attended: tty.is_some(), ..wanted };
    let opened = runtime.block_on(app.open(&Caller::person(), wanted))?;
    if let Some(owner) = opened.owner {
        return Err(Failure::new(Exit::Failed, format!("session {} is in use by process {owner}", opened.id))
            .hint(format!("`neco session attach {}` shows what it does.", opened.id)));
    }
    opened.notes.iter().for_each(|words| say::note(words));
    let seat = take_seat(args.output_format, env, tty, opened.folder.clone().into(), Some(opened.id));
    let OpenedSession { id: session, client, since, .. } = opened;
    let run = Run { id: session, client: Arc::clone(&client), since, write_all: app.write_all() };
    let seen = until_over(&runtime, run, seat, command, id).map_err(Failure::from);
    compose::stop(runtime, leave(&app, client), seen)
}
