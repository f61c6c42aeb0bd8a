//! `neco login` and `neco logout`: the same as `neco auth`, in one word.

use neco_config::Env;
use neco_proto::app::keys::{KeyPlace, ListKeys, SetKey};

use super::command::{AuthCommand, run};
use super::login;
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder};
use crate::exit::Exit;
use crate::failure::Failure;

/// Logs in with a browser where the provider has that, else asks for a key.
///
/// # Errors
/// When no provider is named, there is none of that name, or nothing could be kept.
pub fn log_in(provider: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let Some(provider) = provider else {
        return Err(Failure::usage("say which provider the key is for").hint(
            "  neco login openai                  asks for a key; or anthropic, deepseek, openrouter, …\n  \
               neco login github-copilot          logs in with a browser\n  \
               neco doctor                        lists all of them, and who has a key",
        ));
    };
    let request = SetKey { folder: folder(everywhere)?, provider: provider.to_owned(), ..SetKey::default() };
    match ask(&request, everywhere, env)?.has_login {
        true => login::run(provider, everywhere, env),
        false => {
            let set = AuthCommand::Set { provider: provider.to_owned(), replace: false, rest: Vec::new() };
            run(&set, everywhere, env)
        }
    }
}

/// Forgets the keys and the login of a provider; of the only one that has some where none is named.
///
/// # Errors
/// When it is not plain which one is meant, or nothing is kept of it.
pub fn log_out(provider: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let provider = match provider {
        Some(provider) => provider.to_owned(),
        None => only_one(everywhere, env)?,
    };
    run(&AuthCommand::Remove { provider, key_number: None }, everywhere, env)
}

/// The provider of which something is kept, where that is one alone.
fn only_one(everywhere: &EverywhereArgs, env: &Env) -> Result<String, Failure> {
    let list = ask(&ListKeys { folder: folder(everywhere)? }, everywhere, env)?;
    let kept = list.keys.into_iter().filter(|row| row.source == KeyPlace::File).map(|row| row.provider);
    match kept.collect::<Vec<_>>().as_slice() {
        [] => {
            Err(Failure::usage("no key and no login is saved")
                .hint("`neco auth list` shows keys of the environment, too."))
        }
        [one] => Ok(one.clone()),
        several => {
            let names = several.join(", ");
            Err(Failure::usage(format!("several providers have keys: {names}"))
                .hint("Say which one: neco logout PROVIDER"))
        }
    }
}
