//! `neco auth set`: keeps a key.

use neco_config::Env;
use neco_proto::app::keys::{NewKey, SetKey};
use secrecy::ExposeSecret;

use super::typed;
use crate::args::EverywhereArgs;
use crate::cmd::program::{self, ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Asks for a key of `provider` and keeps it beside those that are kept already, or in their place.
///
/// # Errors
/// When there is no such provider, no key is given, or it can't be kept.
pub fn run(provider: &str, replace: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let mut request = SetKey { folder: folder(everywhere)?, provider: provider.to_owned(), key: None, replace };
    // Before a person types: what can't be kept need not be asked for.
    notes(&ask(&request, everywhere, env)?.warnings);
    let typed = match typed::key(&format!("Key of {provider} (it is not shown): "))? {
        typed::Typed::Key(key) => key,
        typed::Typed::Stopped(signal) => return Ok(Exit::Stopped(signal)),
    };
    request.key = Some(NewKey(typed.expose_secret().to_owned()));
    // What is to be said of the settings was said.
    let kept = program::asked(&request, everywhere, env)??;
    let words = match (kept.replaced, kept.new, kept.keys) {
        (1, true, _) => format!("the key of {provider} is replaced"),
        (replaced @ 2.., _, _) => format!("{replaced} keys of {provider} are replaced by this one"),
        (_, false, _) => format!("{provider} has this key already"),
        (_, true, 1) => format!("the key of {provider} is kept"),
        (_, true, count) => format!("{provider} has {count} keys now, which take turns"),
    };
    say::out(&format!("{words} ({})\n", kept.file))?;
    if let Some(place) = kept.hidden_by {
        say::note(&format!(
            "the key of {provider} in the {place} goes first; this one is not used while that is there"
        ));
    }
    Ok(Exit::Done)
}

/// What is said to somebody who writes a key behind the name; the key itself is not repeated.
pub fn a_key_as_argument(provider: &str) -> Failure {
    Failure::usage(format!(
        "a key is never an argument: if that was one, it is in your shell's history now; run `neco auth set {provider}` \
         and type it"
    ))
}
