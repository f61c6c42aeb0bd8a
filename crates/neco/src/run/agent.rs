//! A request to an agent that is defined in a file: its instructions, its model, its tools and its limits.

use neco_config::Env;
use neco_proto::app::agents::ShowAgent;

use crate::args::{EverywhereArgs, RunArgs};
use crate::cmd::program::ask_once;
use crate::failure::Failure;

/// The request with what the definition that `--agent` names says; flags outrank it.
pub fn taken(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<RunArgs, Failure> {
    let mut args = args.clone();
    let Some(name) = args.agent.take() else { return Ok(args) };
    let folder = crate::folder(everywhere)?.display().to_string();
    let shown = ask_once(&ShowAgent { folder, name }, everywhere, env)?;
    let definition = shown.definition;
    args.model = args.model.or(definition.model);
    args.tools = args.tools.or(definition.tools);
    args.mode = args.mode.or(definition.mode);
    args.max_turns = args.max_turns.or(definition.max_turns);
    args.rules.deny.extend(definition.disallowed_tools.into_iter().chain(definition.deny));
    args.rules.ask.extend(definition.ask);
    args.preface = Some(shown.prompt.trim().to_owned()).filter(|prompt| !prompt.is_empty());
    Ok(args)
}
