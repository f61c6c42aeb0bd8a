//! `neco auth remove`: forgets what is kept for a provider, or one key of it.

use neco_config::Env;
use neco_proto::app::keys::{RemoveKeys, RemovedKeys};

use crate::args::EverywhereArgs;
use crate::cmd::program::{ask, folder, notes};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Removes the keys and the login of `provider` from the keys file, or its key of that number.
///
/// # Errors
/// When there is no such provider or key, nothing is kept, or the file can't be written.
pub fn run(provider: &str, number: Option<&str>, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (folder, named) = (folder(everywhere)?, provider.to_owned());
    let request = RemoveKeys { folder, provider: named, number: number.map(str::to_owned) };
    let removed = ask(&request, everywhere, env)?;
    notes(&removed.warnings);
    let what = number.map_or_else(|| words(&removed), |number| format!("key {number}"));
    say::out(&format!("{what} of {provider} removed from {}\n", removed.file))?;
    Ok(Exit::Done)
}

fn words(removed: &RemovedKeys) -> String {
    let keys = match removed.keys {
        0 => None,
        1 => Some("1 key".to_owned()),
        count => Some(format!("{count} keys")),
    };
    let login = removed.login.then(|| "the login".to_owned());
    keys.into_iter().chain(login).collect::<Vec<_>>().join(" and ")
}
