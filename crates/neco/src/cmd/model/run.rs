//! From the arguments of `neco model` to what is done.

use std::time::Duration;

use neco_app::services;
use neco_app::workspace::keys;
use neco_config::{Config, Env, LoadOptions};

use super::{facts, list, show, test};
use crate::args::{EverywhereArgs, ModelCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::terminal::Terminal;
use crate::{compose, say};

/// How long local servers have to answer.
const PROBE: Duration = Duration::from_millis(500);

/// Runs `neco model …`.
///
/// # Errors
/// When the configuration can't be used, or there is no such model.
pub fn run(command: &ModelCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    let notes = loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded));
    notes.for_each(|note| say::note(&note));
    let models = services::models(&loaded.config, env)?;
    let terminal = Terminal::look_at(env);
    let paint = terminal.stdout_paint();
    compose::runtime()?.block_on(async {
        let servers = models.probe_local(PROBE).await;
        models.use_local(&servers);
        match command {
            ModelCommand::List { all, json } => {
                let text = list::text(&models, &servers, *all, *json, paint);
                if *json { say::out(&text) } else { say::lines(&text, facts::HANGING) }.map(|()| Exit::Done)
            }
            ModelCommand::Show { name, json } => show::run(&models, name, *json, paint),
            ModelCommand::Test { name, json } => test::run(&models, name.as_deref(), *json, &terminal).await,
        }
    })
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
