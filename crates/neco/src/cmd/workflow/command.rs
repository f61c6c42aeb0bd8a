//! The forms of `neco workflow`.

use neco_app::services::{self, ServiceSetup};
use neco_config::{Config, Env};
use neco_proto::event::WorkflowState;
use neco_proto::{Client, Command, WorkflowOrder};
use neco_session::Hub;
use neco_session::workflow::RunNote;

use super::{check, list, run as at_work, show};
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::attach::{self, Which};
use crate::say;
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
        WorkflowCommand::Validate { files, json } => check::run(files, *json, &folder, everywhere, env),
        WorkflowCommand::List { all, json } => {
            let cwd = folder.display().to_string();
            let runs = with_hub(env, async |hub| Ok(hub.workflow_runs((!all).then_some(cwd.as_str())).await))?;
            let found = neco_app::workspace::told_files::workflow_places(env).list(&folder);
            say::out(&if *json { list::as_json(&found, &runs) } else { list::as_lines(&found, &runs, *all) })?;
            Ok(Exit::Done)
        }
        WorkflowCommand::Show { what, task, json } => show::run(what, task.as_deref(), *json, &folder, env),
        WorkflowCommand::Cancel { id } => {
            with_hub(env, async |hub| {
                let run = find(&hub, id).await?;
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

/// The one run whose id begins so.
pub(super) async fn find(hub: &Hub, id: &str) -> Result<RunNote, Failure> {
    let wanted = id.trim().to_lowercase();
    let mut runs = hub.workflow_runs(None).await;
    runs.retain(|run| !wanted.is_empty() && run.workflow_id.to_string().starts_with(&wanted));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => Err(Failure::usage(format!("there is no run {id:?} of a workflow"))
            .hint("`neco workflow list --all` lists the runs of all folders.")),
        several => Err(Failure::usage(format!("{several} runs begin with {id:?}: give more of the id"))),
    }
}

/// Ends a run: where it runs, or in its log when nobody runs it.
async fn cancel(hub: &Hub, run: &RunNote, env: &Env) -> Result<(), Failure> {
    if run.state == WorkflowState::Running {
        let session = run.session.to_string();
        if let Some(attached) = attach::find(Which::Id(&session), env).await? {
            let order = Command::WorkflowCommand { workflow_id: run.workflow_id, order: WorkflowOrder::Cancel };
            attached.client.send(order).await?;
            return say::out(&format!("workflow {} is told to stop\n", run.name));
        }
    }
    hub.cancel_workflow(run).await?;
    say::out(&format!("workflow {} is cancelled\n", run.name))
}
