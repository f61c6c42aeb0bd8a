//! The forms of `neco workflow`.

use std::path::Path;
use std::sync::Arc;

use clap::{ArgAction, Args, Subcommand};
use jiff::Timestamp;
use neco_app::workspace::told_files::workflow_places;
use neco_config::Env;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::workflows::{
    CancelWorkflow, CancelledWorkflow, CheckWorkflows, ListWorkflows, ShowWorkflow, ShowWorkflowRun, ShownRun,
};
use neco_proto::app::{App, Caller};
use neco_proto::event::WorkflowState;
use neco_proto::{ApprovalMode, Command, WorkflowId, WorkflowOrder};
use neco_session::workflow::{Graph, WorkflowError, WorkflowFile};
use neco_view::paint::lists::workflows;
use serde_json::{Map, Value};

use super::follow::{self, Follow};
use crate::args::{APPROVALS, EverywhereArgs, JsonArg, OutputFormat, RuleArgs, RunArgs, one_of};
use crate::cmd::confirm::person;
use crate::cmd::program::{ask_of, ask_once, block_on, folder, print, with_files, with_store};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::{TerminalOpener, wanted};
use crate::run::request::{leave, take_seat};
use crate::say;
use crate::terminal::Terminal;

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
    /// The same as --approval auto
    #[arg(short, long, conflicts_with = "approval")]
    yes: bool,
    /// Stops when the session has cost so many US dollars
    #[arg(long, value_name = "USD")]
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
            max_cost: self.max_cost.filter(|amount| amount.is_finite() && *amount > 0.0),
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
        WorkflowCommand::Run(args) => begin(args, Path::new(&folder), everywhere, env),
        WorkflowCommand::Resume { id, how } => resume(id, how, Path::new(&folder), everywhere, env),
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
            let paint = Terminal::look_at(env).stdout_paint();
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
fn begin(args: &WorkflowRunArgs, folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let wrong = |error: WorkflowError| Failure::usage(error.to_string());
    let file = workflow_places(env).find(&args.workflow, folder).map_err(wrong)?.file.map_err(wrong)?;
    if !args.rest.is_empty() {
        let words = format!("`{}` has no name: inputs are written --input NAME=VALUE", args.rest.join(" "));
        return Err(Failure::usage(words).hint(with_inputs(&args.workflow, &file)));
    }
    let inputs = inputs(&args.inputs, &file)?;
    // What is wrong is said before a session is made for it.
    let checked = Graph::new(&file, &inputs.clone().into_iter().collect());
    let lacks_some = file.inputs.iter().any(|(name, input)| input.default.is_none() && !inputs.contains_key(name));
    checked.map_err(|error| match lacks_some {
        true => wrong(error).hint(with_inputs(&args.workflow, &file)),
        false => wrong(error),
    })?;
    let command = Command::RunWorkflow { definition: file.to_value(), inputs: Value::Object(inputs) };
    at_work(command, None, args.how.run_args(None), folder, everywhere, env)
}

/// The line that runs a workflow, with the inputs that it needs.
fn with_inputs(name: &str, file: &WorkflowFile) -> String {
    let needed = file.inputs.iter().filter(|(_, input)| input.default.is_none());
    let inputs: String = needed.map(|(name, _)| format!(" --input {name}=\"…\"")).collect();
    format!("neco workflow run {name}{inputs}; `neco workflow show {name}` says what each input is.")
}

/// Goes on with a run, in its session.
fn resume(id: &str, how: &HowArgs, folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let request = ShowWorkflowRun { run: id.to_owned() };
    let ShownRun { run, .. } = block_on(with_store(everywhere, env, async |app| ask_of(app, &request).await))?;
    match run.state {
        WorkflowState::Running => {
            return Err(Failure::usage(format!("workflow {} is already running, in another process", run.name))
                .hint(format!("Watch it: neco session attach {}", run.session)));
        }
        WorkflowState::Completed => return Err(Failure::usage(format!("workflow {} is completed", run.name))),
        WorkflowState::Cancelled => {
            return Err(Failure::usage(format!("workflow {} was cancelled and can't be resumed", run.name))
                .hint(format!("Run it again: neco workflow run {}", run.name)));
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
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let tty = (args.output_format == OutputFormat::Text).then(|| person(env)).flatten();
    let runtime = compose::runtime()?;
    let app = Arc::new(TerminalOpener::new(env, tty.is_some(), false)).program(&args, everywhere);
    let wanted = wanted(&args, everywhere, folder.display().to_string())?;
    let wanted = OpenSession { attended: tty.is_some(), ..wanted };
    let opened = runtime.block_on(app.open(&Caller::person(), wanted))?;
    if let Some(owner) = opened.owner {
        return Err(Failure::new(Exit::Failed, format!("session {} is in use by process {owner}", opened.id))
            .hint(format!("Watch it: neco session attach {}", opened.id)));
    }
    opened.notes.iter().for_each(|words| say::note(words));
    let seat = take_seat(args.output_format, env, tty, opened.folder.clone().into(), opened.id);
    let follow = Follow { runtime: &runtime, write_all: app.write_all(), opened: &opened, id };
    let seen = follow::until_over(follow, seat, command, args.output_format);
    compose::stop(runtime, leave(&app, opened.client), seen)
}

/// `NAME=VALUE`. A value is of the kind that the input's default has; one without a default is text.
fn inputs(written: &[String], file: &WorkflowFile) -> Result<Map<String, Value>, Failure> {
    let mut inputs = Map::new();
    for text in written {
        let (name, value) =
            text.split_once('=').ok_or_else(|| Failure::usage(format!("--input {text}: write it as NAME=VALUE")))?;
        let name = name.trim();
        let usual = file.inputs.get(name).and_then(|input| input.default.as_ref());
        let value = match usual {
            None | Some(Value::String(_) | Value::Null) => Value::from(value),
            Some(usual) => of_kind(name, value, usual)?,
        };
        if inputs.insert(name.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("--input {name} is there twice")));
        }
    }
    Ok(inputs)
}

/// A value that is written as text and means something of the kind of `usual`.
fn of_kind(name: &str, written: &str, usual: &Value) -> Result<Value, Failure> {
    let kind = |value: &Value| match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list in JSON",
        Value::Object(_) => "an object in JSON",
    };
    let read = serde_json::from_str::<Value>(written.trim()).ok().filter(|read| kind(read) == kind(usual));
    read.ok_or_else(|| Failure::usage(format!("--input {name} is {}, not {written:?}", kind(usual))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_keep_their_kind() {
        let file = json!({ "name": "x", "inputs": {
            "goal": {}, "check": { "default": "" }, "research": { "default": false }, "n": { "default": 1 },
            "list": { "default": [] },
        } });
        let file = WorkflowFile::of_value(&file).unwrap();
        let read = |texts: &[&str]| inputs(&texts.iter().map(ToString::to_string).collect::<Vec<_>>(), &file);
        let read_all = read(&["goal=a=b", "research=true", "n=3", "list=[1]", "check=false", "quoted=\"x\""]).unwrap();
        let wanted =
            json!({ "goal": "a=b", "research": true, "n": 3, "list": [1], "check": "false", "quoted": "\"x\"" });
        assert_eq!(Value::Object(read_all), wanted);
        assert_eq!(Value::Object(read(&["goal=3", "check="]).unwrap()), json!({ "goal": "3", "check": "" }));
        let refused = read(&["research=maybe"]).unwrap_err();
        assert_eq!(refused.message, "--input research is true or false, not \"maybe\"");
        assert!(read(&["goal"]).is_err() && read(&["a=1", "a=2"]).is_err());
    }
}
