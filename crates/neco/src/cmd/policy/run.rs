//! `neco policy …`

use std::path::PathBuf;

use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::rules;
use neco_config::{Env, LoadOptions, Loaded};
use neco_safety::policy::LoadedPolicy;

use super::{explain, list, remove, test};
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::rule_args::{PolicyCommand, RuleArgs};
use crate::say;

/// Runs `neco policy …`.
///
/// # Errors
/// When the rules can't be used, or what is asked for is none.
pub fn run(command: &PolicyCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match command {
        PolicyCommand::List { rules, json } => {
            let here = Here::look(rules, everywhere, env)?;
            say::out(&list::show(&here.rules, *json))?;
            Ok(Exit::Done)
        }
        PolicyCommand::Explain { tool, arguments, situation, rules, json } => {
            let here = Here::look(rules, everywhere, env)?;
            say::out(&explain::show(&here, env, tool, arguments, situation, *json)?)?;
            Ok(Exit::Done)
        }
        PolicyCommand::Remove { numbers, all } => {
            say::out(&remove::remove(env, numbers, *all)?)?;
            Ok(Exit::Done)
        }
        PolicyCommand::Test { file, rules, json } => {
            let here = Here::look(rules, everywhere, env)?;
            let (text, exit) = test::check(&here, env, file, *json)?;
            say::out(&text)?;
            Ok(exit)
        }
    }
}

/// The rules in force, for whoever has no terminal for them.
///
/// # Errors
/// When the rules can't be used.
pub fn listed(everywhere: &EverywhereArgs, env: &Env) -> Result<String, Failure> {
    Ok(list::show(&Here::load(&RuleArgs::default(), everywhere, env)?.rules, false))
}

/// The folder, its settings and its rules.
pub struct Here {
    /// The folder.
    pub folder: PathBuf,
    /// Its settings.
    pub loaded: Loaded,
    /// Its rules.
    pub rules: LoadedPolicy,
}

impl Here {
    /// Loads them, and says what is to be said about them.
    fn look(args: &RuleArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Self, Failure> {
        let here = Self::load(args, everywhere, env)?;
        here.loaded.warnings.iter().for_each(|warning| say::note(&warning.to_string()));
        here.rules.warnings.iter().for_each(|warning| say::note(&warning.to_string()));
        Ok(here)
    }

    fn load(args: &RuleArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Self, Failure> {
        let folder = crate::folder(everywhere)?;
        let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
        let plugged = Plugged::look(env, &folder, &loaded);
        let rules = rules::load(&args.flags(), env, &folder, &loaded, &plugged)?;
        Ok(Self { folder, loaded, rules })
    }
}
