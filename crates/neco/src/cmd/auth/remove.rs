//! `neco auth remove`: forgets what is kept for a provider, or one key of it.

use neco_app::workspace::keys;
use neco_config::Env;
use neco_model::route::{Kept, KeptKeys, Providers};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Removes the keys and the login of `provider` from the keys file, or its key of that number.
///
/// # Errors
/// When there is no such provider or key, nothing is kept, or the file can't be written.
pub fn run(provider: &str, number: Option<&str>, providers: &Providers, env: &Env) -> Result<Exit, Failure> {
    let file = keys::file(env);
    // What is kept for a provider that is not configured any more can be removed too.
    let kept = file.read()?;
    let Some(kept) = kept.get(provider) else { return Err(nothing_kept(provider, providers, env)) };
    let removed = match number {
        Some(number) => {
            let at = place_of(number, kept.keys.len())?;
            file.change(|kept| remove_one(kept, provider, at))?;
            format!("key {number}")
        }
        None => words(&file.change(|kept| kept.remove(provider))?.unwrap_or_default()),
    };
    say::out(&format!("{removed} of {provider} removed from {}\n", file.path().display()))?;
    Ok(Exit::Done)
}

/// The place of a key among `count`. What was written is not repeated: it may be a key.
fn place_of(number: &str, count: usize) -> Result<usize, Failure> {
    let known = number.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let there = match count {
        0 => "no keys are kept".to_owned(),
        1 => "there is only key 1".to_owned(),
        count => format!("there are keys 1 to {count}"),
    };
    known
        .map(|number| number - 1)
        .ok_or_else(|| Failure::usage(format!("that is no number of a key: {there}; `neco auth list` shows them")))
}

fn remove_one(kept: &mut KeptKeys, provider: &str, at: usize) {
    let Some(of_provider) = kept.get_mut(provider) else { return };
    if at < of_provider.keys.len() {
        of_provider.keys.remove(at);
    }
    if of_provider.is_empty() {
        kept.remove(provider);
    }
}

fn nothing_kept(provider: &str, providers: &Providers, env: &Env) -> Failure {
    let entry = match providers.get(provider) {
        Ok(entry) => entry,
        Err(error) => return error.into(),
    };
    let set: Vec<&str> =
        entry.api_key_envs.iter().map(String::as_str).filter(|variable| env.is_set(variable)).collect();
    let path = keys::file(env).path().display().to_string();
    let failure = Failure::new(Exit::Failed, format!("nothing is kept for {provider} in {path}"));
    match set.as_slice() {
        [] => failure,
        set => failure.hint(format!("Its key is in the environment: unset {}.", set.join(" "))),
    }
}

fn words(removed: &Kept) -> String {
    let keys = match removed.keys.len() {
        0 => None,
        1 => Some("1 key".to_owned()),
        count => Some(format!("{count} keys")),
    };
    let login = removed.login.as_ref().map(|_| "the login".to_owned());
    keys.into_iter().chain(login).collect::<Vec<_>>().join(" and ")
}
