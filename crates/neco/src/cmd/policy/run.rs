//! `neco policy …`

use neco_config::Env;
use neco_proto::app::rules::{ExplainCall, ListRules, TestRules};
use neco_view::paint::lists;

use super::{explain, remove, test};
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rule_args::PolicyCommand;
use crate::say;

/// Runs `neco policy …`.
///
/// # Errors
/// When the rules can't be used, or what is asked for is none.
pub fn run(command: &PolicyCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::List { rules, json } => {
            let request = ListRules { folder: folder(everywhere)?, given: rules.given() };
            let mut rules = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut rules.warnings));
            say::out(&if *json { as_json(&rules) } else { lists::rules::as_lines(&rules) })?;
            Ok(Exit::Done)
        }
        PolicyCommand::Explain { tool, arguments, situation, rules, json } => {
            let request = ExplainCall {
                folder: folder(everywhere)?,
                given: rules.given(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                mode: situation.mode.map(Into::into),
                approval: situation.approval.map(Into::into),
                no_person: situation.no_person,
            };
            let mut explained = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut explained.warnings));
            say::out(&if *json { as_json(&explained) } else { explain::as_lines(&explained) })?;
            Ok(Exit::Done)
        }
        PolicyCommand::Remove { numbers, all } => {
            say::out(&remove::remove(everywhere, env, numbers, *all)?)?;
            Ok(Exit::Done)
        }
        PolicyCommand::Test { file, rules, json } => {
            let file = file.display().to_string();
            let request = TestRules { folder: folder(everywhere)?, given: rules.given(), file };
            let mut tested = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut tested.warnings));
            let exit = if tested.cases.iter().all(|case| case.ok) { Exit::Done } else { Exit::Failed };
            if *json {
                // Programs are told which rule it is; where it stands they ask with `explain`.
                tested.cases.iter_mut().for_each(|case| case.rule_place.clear());
            }
            say::out(&if *json { as_json(&tested) } else { test::as_lines(&tested.cases) })?;
            Ok(exit)
        }
    }
}

fn as_json(answer: &impl serde::Serialize) -> String {
    format!("{:#}\n", serde_json::json!(answer))
}
