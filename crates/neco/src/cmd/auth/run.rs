//! From the arguments of `neco auth` to what is done.

use neco_config::Env;
use neco_model::route::KeysFileError;
use neco_proto::app::keys::ListKeys;

use super::{list, login, remove, set};
use crate::args::{AuthCommand, EverywhereArgs};
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs `neco auth …`.
///
/// # Errors
/// When the configuration can't be used, there is no such provider, or keys can't be read or kept.
pub fn run(command: &AuthCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match command {
        AuthCommand::Set { provider, rest, .. } if !rest.is_empty() => {
            notes(&ask(&ListKeys { folder: folder(everywhere)? }, everywhere, env)?.warnings);
            Err(set::a_key_as_argument(provider))
        }
        AuthCommand::Set { provider, replace, .. } => set::run(provider, *replace, everywhere, env),
        AuthCommand::List { json } => list::run(*json, everywhere, env),
        AuthCommand::Remove { provider, key_number } => remove::run(provider, key_number.as_deref(), everywhere, env),
        AuthCommand::Login { provider } => login::run(provider, everywhere, env),
    }
}

impl From<KeysFileError> for Failure {
    fn from(error: KeysFileError) -> Self {
        Self::new(Exit::Failed, error.to_string())
    }
}
