//! From the arguments of `neco model` to what is done.

use neco_config::Env;

use super::{facts, list, show, test};
use crate::args::{EverywhereArgs, ModelCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::terminal::Terminal;

/// Runs `neco model …`.
///
/// # Errors
/// When the configuration can't be used, or there is no such model.
pub fn run(command: &ModelCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let terminal = Terminal::look_at(env);
    match command {
        ModelCommand::List { all, json } => list::run(*all, *json, everywhere, env, terminal.stdout_paint()),
        ModelCommand::Show { name, json } => show::run(name, *json, everywhere, env, terminal.stdout_paint()),
        ModelCommand::Test { name, json } => test::run(name.as_deref(), *json, everywhere, env, &terminal),
    }
}

/// The list of those that can be asked, for whoever has no terminal for it.
///
/// # Errors
/// When a provider is described so that nothing could be asked of it.
pub async fn listed(config: &Config, env: &Env) -> Result<String, Failure> {
    let models = services::models(config, env)?;
    let servers = models.probe_local(PROBE).await;
    models.use_local(&servers);
    Ok(list::text(&models, &servers, false, false, Paint::default()))
}
