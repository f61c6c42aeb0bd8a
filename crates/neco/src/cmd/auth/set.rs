//! `neco auth set`: keeps a key.

use neco_app::workspace::keys::{self, Keys};
use neco_config::Env;
use neco_config::section::ProviderType;
use neco_model::route::{Key, KeyPlace, ProviderEntry, Providers};
use secrecy::{ExposeSecret, SecretString};

use super::typed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Asks for a key of `provider` and keeps it beside those that are kept already, or in their place.
///
/// # Errors
/// When there is no such provider, no key is given, or it can't be kept.
pub fn run(provider: &str, replace: bool, providers: &Providers, env: &Env) -> Result<Exit, Failure> {
    let entry = providers.get(provider)?;
    if entry.kind == ProviderType::Scripted {
        return Err(Failure::usage(format!("{provider} plays a script; it needs no key")));
    }
    let file = keys::file(env);
    // Before a person types: what can't be kept need not be asked for.
    file.read()?;
    let typed = match typed::key(&format!("Key of {provider} (it is not shown): "))? {
        typed::Typed::Key(key) => key,
        typed::Typed::Stopped(signal) => return Ok(Exit::Stopped(signal)),
    };
    let key = checked(&typed)?;
    let (count, new, replaced) = file.change(|kept| {
        let keys = &mut kept.entry(provider.to_owned()).or_default().keys;
        let new = keys.iter().all(|kept| kept.expose_secret() != key.expose_secret());
        let before = keys.len();
        if replace {
            *keys = vec![key];
        } else if new {
            keys.push(key);
        }
        (keys.len(), new, if replace { before } else { 0 })
    })?;
    let words = match (replaced, new, count) {
        (1, true, _) => format!("the key of {provider} is replaced"),
        (2.., _, _) => format!("{replaced} keys of {provider} are replaced by this one"),
        (_, false, _) => format!("{provider} has this key already"),
        (_, true, 1) => format!("the key of {provider} is kept"),
        (_, true, count) => format!("{provider} has {count} keys now, which take turns"),
    };
    say::out(&format!("{words} ({})\n", file.path().display()))?;
    if let Some(place) = earlier(entry, env) {
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

/// The key without what copying adds.
fn checked(typed: &SecretString) -> Result<SecretString, Failure> {
    let key = keys::unquoted(typed.expose_secret().trim());
    if key.is_empty() {
        return Err(Failure::usage("no key was given; nothing was changed"));
    }
    if key.lines().count() > 1 {
        return Err(Failure::usage("that is more than one line; give one key at a time"));
    }
    if key.contains(char::is_whitespace) || Key::new(key, "").is_none() {
        return Err(Failure::usage("that has characters that no key has; copy it again"));
    }
    Ok(key.into())
}

/// The place whose keys count before those of the file.
fn earlier(entry: &ProviderEntry, env: &Env) -> Option<KeyPlace> {
    let sources = Keys::find(env);
    let has_keys = |place: &KeyPlace| place.credentials(entry, &sources).is_ok_and(|found| !found.is_empty());
    KeyPlace::ALL.into_iter().find(has_keys).filter(|place| *place != KeyPlace::File)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused() {
        for (typed, is_key) in [
            ("sk-1\n", true),
            (" sk-1 ", true),
            ("\"sk-1\"", true),
            ("\"\"", false),
            ("", false),
            (" \n", false),
            ("a\nb", false),
            ("a b", false),
            ("a\u{7}", false),
        ] {
            assert_eq!(checked(&typed.into()).is_ok(), is_key, "{typed:?}");
        }
        assert_eq!(checked(&" sk-1\r\n".into()).unwrap().expose_secret(), "sk-1");
    }
}
