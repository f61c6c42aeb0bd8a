//! `neco auth remove`: forgets what is kept for a provider.

use neco_config::Env;
use neco_model::route::Providers;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{keys, say};

/// Removes the keys and the login of `provider` from the keys file.
///
/// # Errors
/// When there is no such provider, nothing is kept for it, or the file can't be written.
pub fn run(provider: &str, providers: &Providers, env: &Env) -> Result<Exit, Failure> {
    let file = keys::file(env);
    // What is kept for a provider that is not configured any more can be removed too.
    if !file.read()?.contains_key(provider) {
        let entry = providers.get(provider)?;
        let set: Vec<&str> =
            entry.api_key_envs.iter().map(String::as_str).filter(|variable| env.is_set(variable)).collect();
        let failure =
            Failure::new(Exit::Failed, format!("nothing is kept for {provider} in {}", file.path().display()));
        return Err(match set.as_slice() {
            [] => failure,
            set => failure.hint(format!("Its key is in the environment: unset {}.", set.join(" "))),
        });
    }
    let removed = file.change(|kept| kept.remove(provider))?.unwrap_or_default();
    let mut parts = Vec::new();
    match removed.keys.len() {
        0 => {}
        1 => parts.push("1 key".to_owned()),
        count => parts.push(format!("{count} keys")),
    }
    parts.extend(removed.login.map(|_| "the login".to_owned()));
    say::out(&format!("{} of {provider} removed from {}\n", parts.join(" and "), file.path().display()))?;
    Ok(Exit::Done)
}
