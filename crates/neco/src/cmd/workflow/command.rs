//! The forms of `neco workflow`.

use jiff::Timestamp;
use neco_app::services::{self, ServiceSetup};
use neco_app::workflows::find_run;
use neco_config::{Config, Env};
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow, WorkflowRun};
use neco_proto::event::WorkflowState;
use neco_proto::{Actor, Client, Command, WorkflowOrder};
use neco_session::Hub;
use neco_view::paint::lists::workflows;
use serde_json::json;

use super::run as at_work;
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask_once, with_files};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::attach::{self, Which};
use crate::say;
use crate::terminal::Terminal;
use crate::workflow_args::WorkflowCommand;

/// Runs `neco workflow …`.
///
/// # Errors
/// When there is no such workflow or run, or it can't run.
pub fn run(command: &WorkflowCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    match command {
        WorkflowCommand::Run(args) => at_work::run(args, &folder, everywhere, env),
        WorkflowCommand::Resume { id, how } => at_work::resume(id, how, &folder, everywhere, env),
        WorkflowCommand::Validate { files, json } => {
            let request = CheckWorkflows { folder: folder.display().to_string(), files: files.clone() };
            let checked = ask_once(&request, everywhere, env)?.workflows;
            say::out(&if *json { format!("{:#}\n", json!(checked)) } else { workflows::checked(&checked) })?;
            Ok(if checked.iter().all(|one| one.valid) { Exit::Done } else { Exit::Failed })
        }
        WorkflowCommand::List { all, json } => {
            let request = ListWorkflows { folder: folder.display().to_string(), all: *all };
            let list = ask_once(&request, everywhere, env)?;
            say::out(&if *json {
                format!("{:#}\n", json!(list))
            } else {
                workflows::as_lines(&list, *all, Timestamp::now())
            })?;
            Ok(Exit::Done)
        }
        WorkflowCommand::Show { what, task, json } => {
            let wanted = ShowWorkflow { folder: folder.display().to_string(), name: what.clone() };
            let paint = Terminal::look_at(env).stdout_paint();
            let shape = workflows::Shape { task: task.as_deref(), json: *json, paint };
            say::out(&with_files(everywhere, env, async |app| Ok(workflows::text(wanted, &shape, app).await?))?)?;
            Ok(Exit::Done)
        }
        WorkflowCommand::Cancel { id } => {
            with_hub(env, async |hub| {
                let run = find_run(&hub, id).await?;
                cancel(&hub, &run, env).await
            })?;
            Ok(Exit::Done)
        }
    }
}

/// Does something with a hub that has no session open.
pub(super) fn with_hub<T>(env: &Env, does: impl AsyncFnOnce(Hub) -> Result<T, Failure>) -> Result<T, Failure> {
    compose::runtime()?.block_on(async {
        let store = compose::open_store(env.data_dir()).await?;
        let hub = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?;
        let done = does(hub).await;
        store.close().await?;
        done
    })
}

/// Ends a run: where it runs, or in its log when nobody runs it.
async fn cancel(hub: &Hub, run: &WorkflowRun, env: &Env) -> Result<(), Failure> {
    if run.state == WorkflowState::Running {
        let session = run.session.to_string();
        if let Some(attached) = attach::find(Which::Id(&session), env).await? {
            let order = Command::WorkflowCommand { workflow_id: run.workflow_id, order: WorkflowOrder::Cancel };
            attached.client.send(order).await?;
            return say::out(&format!("workflow {} is told to stop\n", run.name));
        }
    }
    hub.cancel_workflow(Actor::Person, run).await?;
    say::out(&format!("workflow {} is cancelled\n", run.name))
}
