//! `neco plan`: plans that sessions left unfinished, in a person's hands.

use clap::Subcommand;
use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::plans::{ClosePlan, ListPlans, ShowPlan};
use neco_view::paint::lists::plans;

use super::program::{ask_of, ask_once, block_on, folder, print, with_store};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

const CLOSE: &str = "\
A closed plan is no longer carried out: new sessions are not told of it, and its own session does not
continue it. The conversation stays as it is.";

/// `neco plan …`
#[derive(Debug, Subcommand)]
pub enum PlanCommand {
    /// Lists the plans that sessions in this folder left unfinished, newest first
    List {
        /// Those of all folders
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows a plan with its steps and what was found out
    Show {
        /// The id of the session whose plan it is, or a part of it
        session: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Closes plans that are not to be carried out any more
    #[command(after_help = CLOSE)]
    Close {
        /// The ids of the sessions whose plans they are, or parts of them
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<String>,
    },
}

/// Runs `neco plan …`.
pub fn run(command: &PlanCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        PlanCommand::List { all, json } => {
            let request = ListPlans { folder: (!all).then_some(folder), ..ListPlans::default() };
            let found = ask_once(&request, everywhere, env)?.plans;
            print(*json, &found, || plans::as_lines(&found, *all, Timestamp::now()))
        }
        PlanCommand::Show { session, json } => {
            let plan = ask_once(&ShowPlan { session: session.clone() }, everywhere, env)?;
            print(*json, &plan, || plans::whole(&plan, Timestamp::now()))
        }
        PlanCommand::Close { sessions } => {
            block_on(with_store(everywhere, env, async |app| close(sessions, app).await))?;
            Ok(Exit::Done)
        }
    }
}

/// All of them must be there: half of what was asked is not done.
async fn close(sessions: &[String], app: &dyn App) -> Result<(), Failure> {
    let mut found = Vec::new();
    for session in sessions {
        let plan = ask_of(app, &ShowPlan { session: session.clone() }).await?;
        if !found.contains(&plan) {
            found.push(plan);
        }
    }
    for plan in found {
        ask_of(app, &ClosePlan { session: plan.session.to_string() }).await?;
        say::out(&format!("closed: {}\n", plans::title(&plan)))?;
    }
    Ok(())
}
