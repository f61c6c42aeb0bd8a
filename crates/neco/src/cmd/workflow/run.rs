//! `neco workflow run` and `resume`.

use std::path::Path;

use neco_app::workflows::find_run;
use neco_app::workspace::Workspaces;
use neco_app::workspace::told_files::workflow_places;
use neco_config::Env;
use neco_proto::event::WorkflowState;
use neco_proto::{Command, WorkflowId, WorkflowOrder};
use neco_session::workflow::{Graph, WorkflowFile};
use serde_json::{Map, Value};

use super::command::with_hub;
use super::follow::{self, Follow};
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::Tty;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::request::{Request, take_seat};
use crate::run::socket::SocketServer;
use crate::say;
use crate::terminal::is_unattended;
use crate::workflow_args::{HowArgs, WorkflowRunArgs};

/// Runs a workflow in a session of its own.
///
/// # Errors
/// When it can't run; then there is no session either.
pub(super) fn run(
    args: &WorkflowRunArgs,
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let wrong = |error: neco_session::workflow::WorkflowError| Failure::usage(error.to_string());
    let file = workflow_places(env).find(&args.workflow, folder).map_err(wrong)?.file.map_err(wrong)?;
    let inputs = inputs(&args.inputs, &file)?;
    // What is wrong is said before a session is made for it.
    Graph::new(&file, &inputs.clone().into_iter().collect()).map_err(wrong)?;
    let command = Command::RunWorkflow { definition: file.to_value(), inputs: Value::Object(inputs) };
    at_work(command, None, args.how.run_args(None), folder, everywhere, env)
}

/// Goes on with a run, in its session.
///
/// # Errors
/// When there is none, or nothing is left to do.
pub(super) fn resume(
    id: &str,
    how: &HowArgs,
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let run = with_hub(env, async |hub| Ok(find_run(&hub, id).await?))?;
    match run.state {
        WorkflowState::Running => {
            return Err(Failure::usage(format!("workflow {} runs already, in another process", run.name))
                .hint(format!("Watch it: neco session attach {}", run.session)));
        }
        WorkflowState::Completed => return Err(Failure::usage(format!("workflow {} is completed", run.name))),
        WorkflowState::Cancelled => {
            return Err(Failure::usage(format!("workflow {} was cancelled, which is for good", run.name))
                .hint(format!("Run it anew: neco workflow run {}", run.name)));
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
    let tty = (args.output_format == OutputFormat::Text && !is_unattended(env)).then(Tty::open).flatten();
    let runtime = compose::runtime()?;
    let workspaces = Workspaces::new(env.clone());
    let request = Request {
        args: &args,
        everywhere,
        env,
        workspaces: &workspaces,
        tty: tty.as_ref(),
        attended: tty.is_some(),
        interactive: false,
    };
    let opened = runtime.block_on(request.open(folder))?;
    opened.notes.iter().for_each(|words| say::note(words));
    let others = SocketServer::serve(runtime.handle(), &opened.session, &opened.services, everywhere, env);
    let seat = take_seat(args.output_format, env, tty, opened.folder.clone(), opened.session.id());
    let follow = Follow { runtime: &runtime, services: &opened.services, session: &opened.session, id };
    let seen = follow::until_over(follow, seat, command, args.output_format);
    compose::stop(runtime, opened.services, opened.session, others, seen)
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
