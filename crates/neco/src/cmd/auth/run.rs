//! From the arguments of `neco auth` to what is done.

use neco_app::workspace::keys;
use neco_config::{Env, LoadOptions};
use neco_model::route::{KeysFileError, Providers};

use super::{list, login, remove, set};
use crate::args::{AuthCommand, EverywhereArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Runs `neco auth …`.
///
/// # Errors
/// When the configuration can't be used, there is no such provider, or keys can't be read or kept.
pub fn run(command: &AuthCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    let notes = loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded));
    notes.for_each(|note| say::note(&note));
    let providers = Providers::new(&loaded.config.model_providers)?;
    match command {
        AuthCommand::Set { provider, rest, .. } if !rest.is_empty() => Err(set::a_key_as_argument(provider)),
        AuthCommand::Set { provider, replace, .. } => set::run(provider, *replace, &providers, env),
        AuthCommand::List { json } => list::run(&providers, env, *json),
        AuthCommand::Remove { provider, key_number } => remove::run(provider, key_number.as_deref(), &providers, env),
        AuthCommand::Login { provider } => login::run(provider, &providers, env),
    }
}

impl From<KeysFileError> for Failure {
    fn from(error: KeysFileError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}
