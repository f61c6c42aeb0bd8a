//! `neco prompt show`: exactly what a model would be told, and how much room each part takes.

use neco_app::prompt::{self, ShowPrompt, ShownPrompt};
use neco_config::Env;
use neco_view::paint::lists::prompt::{sizes, whole};

use super::program::{folder, notes, without_store};
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::prompt_args::{PromptArgs, PromptCommand};
use crate::say;

/// Runs `neco prompt …`.
///
/// # Errors
/// When the session, the configuration or a prompt can't be used.
pub fn run(command: &PromptCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let PromptCommand::Show(args) = command;
    let (request, app) = (request(args, folder(everywhere)?), without_store(everywhere, env));
    let shown = compose::runtime()?.block_on(prompt::show(&app, request));
    let ShownPrompt { report, warnings } = shown.inspect_err(|error| notes(&error.warnings))?;
    notes(&warnings);
    say::out(&match (args.json, args.sizes) {
        (true, true) => format!("{:#}\n", as_value(&report.context)?),
        (true, false) => format!("{:#}\n", as_value(&report)?),
        (false, true) => sizes(&report.context),
        (false, false) => whole(&report),
    })?;
    Ok(Exit::Done)
}

fn request(args: &PromptArgs, folder: String) -> ShowPrompt {
    ShowPrompt {
        folder,
        session: args.session.clone(),
        model: args.model.clone(),
        mode: args.mode.map(Into::into),
        generation: args.generation,
        tools: args.tools.clone().unwrap_or_default(),
        given: args.rules.given(),
    }
}

fn as_value(report: &impl serde::Serialize) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(report).map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}
