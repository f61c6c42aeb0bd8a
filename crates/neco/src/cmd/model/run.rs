//! From the arguments of `neco model` to what is done.

use neco_config::Env;

use super::{list, show, test};
use crate::args::{EverywhereArgs, ModelCommand};
use crate::exit::Exit;
use crate::failure::Failure;
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
