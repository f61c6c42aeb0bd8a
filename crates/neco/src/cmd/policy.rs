//! `neco policy`: which rules are in force, what they come to, and whether they say what is meant.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::rules::{ExplainCall, ListKeptRules, ListRules, RemoveRules, TestRules};
use neco_proto::{ApprovalMode, Mode};
use neco_safety::policy::some_of;
use neco_view::paint::lists::rules as painted;

use super::program::{ask, folder, notes, print};
use crate::args::{APPROVALS, EverywhereArgs, JsonArg, MODES, RuleArgs, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::help;
use crate::say;

/// `neco policy …`
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Lists the rules in effect, in the order they are checked
    #[command(after_help = help::POLICY_LIST)]
    List {
        #[command(flatten)]
        rules: RuleArgs,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Says what would happen to a call, by which rule, and where that rule is written
    #[command(after_help = help::POLICY_EXPLAIN)]
    Explain {
        /// The tool, by its own name or another agent's
        tool: String,
        /// Its arguments as a JSON object; a command, a path or an address alone will do
        arguments: String,
        /// The mode; without it the configured one
        #[arg(long, value_parser = one_of(MODES))]
        mode: Option<Mode>,
        /// The approval mode; without it the configured one
        #[arg(long, value_parser = one_of(APPROVALS))]
        approval: Option<ApprovalMode>,
        /// As if nobody could be asked
        #[arg(long)]
        no_person: bool,
        #[command(flatten)]
        rules: RuleArgs,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Lists the rules that you allowed with "always", or deletes some
    #[command(after_help = help::POLICY_REMOVE)]
    Remove {
        /// The numbers of the rules to delete; without any they are listed
        #[arg(value_name = "NUMBER")]
        numbers: Vec<NonZeroUsize>,
        /// Deletes all of them
        #[arg(long, conflicts_with = "numbers")]
        all: bool,
    },
    /// Tests your rules against a file of cases; exits with 1 when one fails
    #[command(after_help = help::POLICY_TEST)]
    Test {
        /// The file
        file: PathBuf,
        #[command(flatten)]
        rules: RuleArgs,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// Runs `neco policy …`.
pub fn run(command: &PolicyCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::List { rules, json } => {
            let request = ListRules { folder: folder(everywhere)?, given: rules.given() };
            let mut rules = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut rules.warnings));
            print(*json, &rules, || painted::as_lines(&rules))
        }
        PolicyCommand::Explain { tool, arguments, mode, approval, no_person, rules, json } => {
            let request = ExplainCall {
                folder: folder(everywhere)?,
                given: rules.given(),
                tool: tool.clone(),
                arguments: arguments.clone(),
                mode: *mode,
                approval: *approval,
                no_person: *no_person,
            };
            let mut explained = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut explained.warnings));
            print(*json, &explained, || painted::explained(&explained, &some_of(&explained.closed)))
        }
        PolicyCommand::Remove { numbers, all } => {
            say::out(&remove(everywhere, env, numbers, *all)?)?;
            Ok(Exit::Done)
        }
        PolicyCommand::Test { file, rules, json } => {
            let file = file.display().to_string();
            let request = TestRules { folder: folder(everywhere)?, given: rules.given(), file };
            let mut tested = ask(&request, everywhere, env)?;
            notes(&std::mem::take(&mut tested.warnings));
            if json.json {
                // Programs are told which rule it is; where it stands they ask with `explain`.
                tested.cases.iter_mut().for_each(|case| case.rule_place.clear());
            }
            print(*json, &tested, || painted::tested(&tested.cases))?;
            Ok(if tested.cases.iter().all(|case| case.ok) { Exit::Done } else { Exit::Failed })
        }
    }
}

/// Takes the rules with these numbers back, or all; lists them when none is named.
fn remove(everywhere: &EverywhereArgs, env: &Env, numbers: &[NonZeroUsize], all: bool) -> Result<String, Failure> {
    let kept = ask(&ListKeptRules {}, everywhere, env)?;
    if kept.rules.is_empty() {
        return Ok("no rules of yours; \"always\" in a question adds one\n".to_owned());
    }
    let chosen: BTreeSet<usize> = match all {
        true => (0..kept.rules.len()).collect(),
        false => numbers.iter().map(|number| number.get() - 1).collect(),
    };
    if chosen.is_empty() {
        return Ok(painted::kept(&kept));
    }
    if let Some(number) = chosen.iter().find(|number| **number >= kept.rules.len()) {
        return Err(Failure::usage(format!("there is no rule {} in {}", number + 1, kept.file))
            .hint("`neco policy remove` lists them with their numbers."));
    }
    let rules = chosen.iter().filter_map(|number| kept.rules.get(*number)).map(|rule| rule.text.clone()).collect();
    let removed = ask(&RemoveRules { rules }, everywhere, env)?;
    Ok(removed.rules.iter().map(|rule| format!("deleted: {}\n", rule.title)).collect())
}
