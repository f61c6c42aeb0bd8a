//! `neco plan`: plans that sessions left unfinished, in a person's hands.

use std::fmt::Write;

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::plans::{ClosePlan, ListPlans, ShowPlan, UnfinishedPlan};
use neco_session::plans::progress;

use super::program::{ask_of, ask_once, with_store};
use super::when::ago;
use crate::args::EverywhereArgs;
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
    let text = match command {
        PlanCommand::List { all, json } => {
            let request = ListPlans { folder: (!all).then(|| folder.display().to_string()) };
            let plans = ask_once(&request, everywhere, env)?.plans;
            if *json { as_json(&plans)? } else { as_lines(&plans, *all) }
        }
        PlanCommand::Show { session, json } => {
            let plan = ask_once(&ShowPlan { session: session.clone() }, everywhere, env)?;
            if *json { as_json(&plan)? } else { whole(&plan) }
        }
        PlanCommand::Close { sessions } => {
            with_store(everywhere, env, async |app| close(sessions, app).await)?;
            return Ok(Exit::Done);
        }
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// All of them must be there: half of what was asked is not done.
async fn close(sessions: &[String], app: &dyn App) -> Result<(), Failure> {
    let mut plans = Vec::new();
    for session in sessions {
        let plan = ask_of(app, &ShowPlan { session: session.clone() }).await?;
        if !plans.contains(&plan) {
            plans.push(plan);
        }
    }
    for plan in plans {
        ask_of(app, &ClosePlan { session: plan.session.to_string() }).await?;
        say::out(&format!("closed: {}\n", title(&plan)))?;
    }
    Ok(())
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
        let _ = writeln!(text, "{id}  {when}  {}  {}{place}", progress(plan), title(plan));
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
        progress(plan),
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
