//! A request to an agent that is defined in a file: its instructions, its model, its tools and its limits.

use neco_config::Env;
use neco_proto::app::agents::ShowAgent;

use crate::args::{EverywhereArgs, MODES, RunArgs};
use crate::cmd::program::ask_once;
use crate::failure::Failure;

/// The request with what the definition that `--agent` names says: its instructions are a part of the system prompt,
/// and flags outrank the rest.
pub fn taken(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<RunArgs, Failure> {
    let mut args = args.clone();
    let Some(name) = args.agent.clone() else { return Ok(args) };
    let folder = crate::folder(everywhere)?.display().to_string();
    let shown = ask_once(&ShowAgent { folder, name: name.clone() }, everywhere, env);
    let shown = shown.map_err(|failure| match MODES.iter().any(|(_, mode, _)| *mode == name) {
        // Elsewhere that is an agent.
        true => failure.hint(format!("The mode of that name is --mode {name}; `neco agents list` lists the agents.")),
        false => failure,
    })?;
    let definition = shown.definition;
    args.model = args.model.or(definition.model);
    args.tools = args.tools.or(definition.tools);
    args.mode = args.mode.or(definition.mode);
    args.max_turns = args.max_turns.or(definition.max_turns);
    args.rules.deny.extend(definition.disallowed_tools.into_iter().chain(definition.deny));
    args.rules.ask.extend(definition.ask);
    let prompt = Some(shown.prompt.trim()).filter(|prompt| !prompt.is_empty());
    args.role = prompt.map(|prompt| format!("You are the agent \"{}\".\n\n{prompt}", definition.name));
    Ok(args)
}
