//! The forms of `neco auth`.

use std::io::{self, IsTerminal};

use clap::Subcommand;
use neco_config::Env;
use neco_proto::ErrorCode;
use neco_proto::app::keys::{KeyTest, ListKeys, NewKey, RemoveKeys, RemovedKeys, SetKey};
use neco_tui::line::ask::hidden::{self, Typed};
use neco_view::paint::lists::keys;
use secrecy::ExposeSecret;

use super::short;
use crate::args::{EverywhereArgs, JsonArg};
use crate::cmd::program::{ask, asked, folder, notes, print_hanging};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures::count;
use crate::say;

/// `neco auth …`
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Adds a key, typed hidden or piped in; a second one takes turns with the first
    Set {
        /// The provider, such as openai
        provider: String,
        /// Replaces the keys there are
        #[arg(long)]
        replace: bool,
        /// What must not be here: a key. Taken so that no error repeats it.
        #[arg(hide = true)]
        rest: Vec<String>,
    },
    /// Shows who has keys, and where they come from
    #[command(alias = "ls", alias = "status")]
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Removes the keys and the login of a provider, or one of its keys
    #[command(alias = "logout", alias = "rm")]
    Remove {
        /// The provider
        provider: String,
        /// The number of the key, as `neco auth list` shows it; without it all of them
        key_number: Option<String>,
    },
    /// Logs in with a browser where the provider has that, else keeps a key, as neco login does
    Login {
        /// The provider, such as github-copilot
        provider: Option<String>,
    },
}

/// Runs `neco auth …`.
///
/// # Errors
/// When the configuration can't be used, there is no such provider, or keys can't be read or kept.
pub fn run(command: &AuthCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        AuthCommand::Set { provider, rest, .. } if !rest.is_empty() => {
            notes(&ask(&ListKeys { folder }, everywhere, env)?.warnings);
            // The key itself is not repeated.
            Err(Failure::usage(format!(
                "a key is never an argument: if that was one, it is in your shell's history now; run \
                 `neco login {provider}` and type it"
            )))
        }
        AuthCommand::Set { provider, replace, .. } => {
            let request = SetKey { folder, provider: provider.clone(), replace: *replace, ..SetKey::default() };
            let typed = set(request, "", everywhere, env)?;
            typed.ok_or_else(|| Failure::usage("no key was given; nothing was changed"))
        }
        AuthCommand::List { json } => {
            let mut list = ask(&ListKeys { folder }, everywhere, env)?;
            notes(&list.warnings);
            list.problem.iter().for_each(|reason| say::note(reason));
            let exit = if list.problem.is_none() { Exit::Done } else { Exit::Failed };
            if json.json {
                // Programs see that by the names.
                list.keys.iter_mut().for_each(|row| row.login = false);
            }
            print_hanging(*json, &list.keys, keys::HANGING, || keys::as_lines(&list))?;
            Ok(exit)
        }
        AuthCommand::Remove { provider, key_number } => {
            let request = RemoveKeys { folder, provider: provider.clone(), number: key_number.clone() };
            let removed = ask(&request, everywhere, env)?;
            notes(&removed.warnings);
            let what = key_number.as_ref().map_or_else(|| words(&removed), |number| format!("key {number}"));
            say::out(&format!("{what} of {provider} removed from {}\n", removed.file))?;
            Ok(Exit::Done)
        }
        AuthCommand::Login { provider } => short::log_in(provider.as_deref(), everywhere, env),
    }
}

/// Asks for the key of a provider below what a window left on the screen, in the column of its words; nothing when the
/// person goes back.
///
/// # Errors
/// When there is no such provider, or keys can't be read or kept.
pub fn set_below_window(
    provider: &str,
    replace: bool,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Option<Exit>, Failure> {
    let folder = folder(everywhere)?;
    let request = SetKey { folder, provider: provider.to_owned(), replace, ..SetKey::default() };
    set(request, "   ", everywhere, env)
}

/// Asks for a key behind `indent` and keeps it beside those that are kept already, or in their place; nothing when the
/// person goes back.
fn set(mut request: SetKey, indent: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Option<Exit>, Failure> {
    // Before a person types: what can't be kept need not be asked for.
    notes(&ask(&request, everywhere, env)?.warnings);
    let provider = request.provider.clone();
    // Whoever types a key is told at once when it is wrong; what is piped in is kept as it is.
    request.check = io::stdin().is_terminal();
    let mut refused_before = None;
    let kept = loop {
        let typed = hidden::key(&format!("{indent}Key of {provider} (it is not shown): "), compose::runtime()?);
        let unread = |error| Failure::new(Exit::Failed, format!("the key can't be read: {error}"));
        let typed = match typed.map_err(unread)? {
            Typed::Key(key) => key,
            Typed::Back => return Ok(None),
            Typed::Stopped(signal) => return Ok(Some(Exit::Stopped(signal))),
        };
        request.key = Some(NewKey(typed.expose_secret().to_owned()));
        // Whoever types the same again means it.
        request.check &= refused_before != request.key;
        // What is to be said of the settings was said.
        match asked(&request, everywhere, env)? {
            Err(refused) if refused.code == Some(ErrorCode::NotAuthorised) => {
                let ways = "Type it again, or the same once more to keep it anyway; Ctrl-C leaves";
                say::note(&format!("{}. {ways}", refused.message));
                refused_before.clone_from(&request.key);
            }
            kept => break kept?,
        }
    };
    let words = match (kept.replaced, kept.new, kept.keys) {
        (1, true, _) => format!("the key of {provider} is replaced"),
        (replaced @ 2.., _, _) => format!("{replaced} keys of {provider} are replaced by this one"),
        (_, false, _) => format!("{provider} has this key already"),
        (_, true, 1) => format!("the key of {provider} is saved"),
        (_, true, count) => format!("{provider} has {count} keys now, which take turns"),
    };
    let works = kept.test.as_ref().is_some_and(|test| *test == KeyTest::Works);
    let works = if works { format!("; {provider} accepts it") } else { String::new() };
    say::out(&format!("{indent}{words} ({}){works}\n", kept.file))?;
    if kept.test.is_some_and(|test| test == KeyTest::Unreachable) {
        say::note(&format!(
            "{provider} can't be reached, so the key is not tested yet: `neco model test` does that later"
        ));
    }
    if let Some(place) = kept.hidden_by {
        say::note(&format!("the key of {provider} in the {place} comes first; this one is not used while that is set"));
    }
    Ok(Some(Exit::Done))
}

fn words(removed: &RemovedKeys) -> String {
    let keys = (removed.keys > 0).then(|| count(removed.keys as u64, "key"));
    let login = removed.login.then(|| "the login".to_owned());
    keys.into_iter().chain(login).collect::<Vec<_>>().join(" and ")
}
