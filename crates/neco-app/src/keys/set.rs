//! Keeps a key.

use neco_config::section::ProviderType;
use neco_model::route::{Key, ProviderEntry, credentials_in};
use neco_proto::app::keys::{KeptKey, KeyPlace, SetKey};
use neco_proto::app::{AppError, Trouble};
use secrecy::{ExposeSecret, SecretString};

use super::here::{Here, of_file};
use crate::app::StorelessApp;
use crate::error::of_setup;
use crate::workspace::keys::{Keys, unquoted};

pub(crate) async fn set(app: &StorelessApp, request: SetKey) -> Result<KeptKey, AppError> {
    let here = Here::look(app, &request.folder)?;
    let kept = keep(app, &here, &request).map_err(|error| error.after(&here.warnings))?;
    Ok(KeptKey { file: here.path(), warnings: here.warnings, ..kept })
}

fn keep(app: &StorelessApp, here: &Here, request: &SetKey) -> Result<KeptKey, AppError> {
    let provider = &request.provider;
    let entry = here.providers.get(provider).map_err(of_setup)?;
    if entry.kind == ProviderType::Scripted {
        return Err(invalid(format!("{provider} plays a script; it needs no key")));
    }
    let kept = here.file.read().map_err(of_file)?;
    let Some(typed) = &request.key else {
        let keys = kept.get(provider).map_or(0, |kept| kept.keys.len());
        return Ok(KeptKey { keys, hidden_by: earlier(entry, app), ..KeptKey::default() });
    };
    let key = checked(&typed.0)?;
    let changed = here.file.change(|kept| {
        let keys = &mut kept.entry(provider.to_owned()).or_default().keys;
        let new = keys.iter().all(|kept| kept.expose_secret() != key.expose_secret());
        let replaced = if request.replace { keys.len() } else { 0 };
        if request.replace {
            *keys = vec![key];
        } else if new {
            keys.push(key);
        }
        KeptKey { keys: keys.len(), new, replaced, ..KeptKey::default() }
    });
    Ok(KeptKey { hidden_by: earlier(entry, app), ..changed.map_err(of_file)? })
}

/// The key without what copying adds.
fn checked(typed: &str) -> Result<SecretString, AppError> {
    let key = unquoted(typed.trim());
    if key.is_empty() {
        return Err(invalid("no key was given; nothing was changed"));
    }
    if key.lines().count() > 1 {
        return Err(invalid("that is more than one line; give one key at a time"));
    }
    if key.contains(char::is_whitespace) || Key::new(key, "").is_none() {
        return Err(invalid("that has characters that no key has; copy it again"));
    }
    Ok(key.into())
}

/// The place whose keys count before those of the file.
fn earlier(entry: &ProviderEntry, app: &StorelessApp) -> Option<KeyPlace> {
    let sources = Keys::find(&app.env);
    let has_keys = |place: &KeyPlace| credentials_in(*place, entry, &sources).is_ok_and(|found| !found.is_empty());
    KeyPlace::ALL.iter().copied().find(has_keys).filter(|place| *place != KeyPlace::File)
}

fn invalid(words: impl Into<String>) -> AppError {
    AppError::new(Trouble::Invalid, words)
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
            assert_eq!(checked(typed).is_ok(), is_key, "{typed:?}");
        }
        assert_eq!(checked(" sk-1\r\n").unwrap().expose_secret(), "sk-1");
    }
}
