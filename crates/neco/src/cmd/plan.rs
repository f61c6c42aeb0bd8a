//! `neco plan`: plans that sessions left unfinished, in a person's hands.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use neco_app::services::{self, ServiceSetup};
use neco_config::{Config, Env};
use neco_session::Hub;
use neco_session::plans::UnfinishedPlan;

use super::when::ago;
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan_args::PlanCommand;
use crate::print::clean::{clean, clean_line};
use crate::say;
use crate::short_id::short_id;

/// Runs `neco plan …`.
///
/// # Errors
/// When there is no such plan, its session is in use, or a file can't be read or written.
pub fn run(command: &PlanCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    compose::runtime()?.block_on(async {
        let store = compose::open_store(env.data_dir()).await?;
        let hub = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?;
        let done = answer(command, &hub, &folder).await;
        store.close().await?;
        done
    })?;
    Ok(Exit::Done)
}

async fn answer(command: &PlanCommand, hub: &Hub, folder: &Path) -> Result<(), Failure> {
    match command {
        PlanCommand::List { all, json } => {
            let cwd = folder.display().to_string();
            let plans = hub.unfinished_plans((!all).then_some(cwd.as_str())).await;
            say::out(&if *json { as_json(&plans)? } else { as_lines(&plans, *all) })
        }
        PlanCommand::Show { session, json } => {
            let plan = find(hub, session).await?;
            say::out(&if *json { as_json(&plan)? } else { whole(&plan) })
        }
        PlanCommand::Close { sessions } => {
            let mut plans = Vec::new();
            for session in sessions {
                plans.push(find(hub, session).await?);
            }
            for plan in plans {
                hub.close_plan(plan.session).await?;
                say::out(&format!("closed: {}\n", title(&plan)))?;
            }
            Ok(())
        }
    }
}

/// The one plan of a session whose id begins so, wherever it works.
async fn find(hub: &Hub, prefix: &str) -> Result<UnfinishedPlan, Failure> {
    let mut plans = hub.unfinished_plans(None).await;
    plans.retain(|plan| !prefix.is_empty() && plan.session.to_string().starts_with(prefix));
    match plans.len() {
        1 => Ok(plans.remove(0)),
        0 => Err(Failure::usage(format!("no session {prefix:?} left a plan unfinished"))
            .hint("`neco plan list --all` lists the plans of all folders.")),
        several => Err(Failure::usage(format!("{several} sessions begin with {prefix:?}: give more of the id"))),
    }
}

fn as_lines(plans: &[UnfinishedPlan], all: bool) -> String {
    if plans.is_empty() {
        return format!("no plan is unfinished{}\n", if all { "" } else { " in this folder" });
    }
    let now = Timestamp::now();
    let mut text = String::new();
    for plan in plans {
        let place = if all { format!("  {}", clean_line(&plan.cwd)) } else { String::new() };
        let (id, when) = (short_id(plan.session), ago(plan.saved_ms, now));
        let _ = writeln!(text, "{id}  {when}  {}  {}{place}", plan.progress(), title(plan));
    }
    text
}

/// What a plan is called by: its first open step, or how it begins.
fn title(plan: &UnfinishedPlan) -> String {
    let open = plan.plan.steps.iter().find(|step| !step.done).map(|step| step.text.as_str());
    let first = || plan.plan.text.lines().map(str::trim).find(|line| !line.is_empty());
    crate::print::wrap::fitting(&clean_line(open.or_else(first).unwrap_or_default()), 70)
}

fn whole(plan: &UnfinishedPlan) -> String {
    let now = Timestamp::now();
    let whose = if plan.plan.unseen { "nobody has seen it" } else { "accepted" };
    let mut text = format!(
        "session {} · {} · {whose} · {}, {}\n\n{}\n",
        short_id(plan.session),
        clean_line(&plan.cwd),
        plan.progress(),
        ago(plan.saved_ms, now),
        clean(plan.plan.text.trim()),
    );
    if !plan.plan.steps.is_empty() {
        text.push('\n');
    }
    for step in &plan.plan.steps {
        let _ = writeln!(text, "{} {}. {}", if step.done { "✓" } else { "○" }, step.id, clean_line(&step.text));
    }
    if !plan.findings.is_empty() {
        let _ = writeln!(text, "\nFound out:");
    }
    for finding in &plan.findings {
        let _ = writeln!(text, "- {}", clean_line(finding));
    }
    text
}

fn as_json(value: &(impl serde::Serialize + ?Sized)) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    Ok(text + "\n")
}
