//! Keys of providers: which there are, keeping one, forgetting some.
//!
//! Invariants: no answer holds a key, only its last characters where those give nothing away; what is kept is kept in one
//! file, for its owner alone.

use std::path::Path;
use std::time::Duration;

use neco_config::section::ProviderType;
use neco_model::KeyTrial;
use neco_model::route::{Credential, KeptKeys, Key, KeysFile, ProviderEntry, Providers, credentials_in};
use neco_proto::ErrorCode;
use neco_proto::app::keys::{KeptKey, KeyList, KeyPlace, KeyRow, KeyTest, ListKeys, RemoveKeys, RemovedKeys, SetKey};
use neco_proto::app::{AppError, Known, Trouble};
use secrecy::{ExposeSecret, SecretString};

use crate::app::StorelessApp;
use crate::error::{failed, invalid, of_setup};
use crate::workspace::keys::{self, Keys, unquoted};
use crate::workspace::server_logins::is_of_server;

/// How long a provider has to say whether it takes a key.
const CHECK: Duration = Duration::from_secs(5);

/// Providers, and where their keys are kept.
pub(crate) struct Here {
    pub(crate) providers: Providers,
    pub(crate) file: KeysFile,
    /// What is to be said of the settings.
    pub(crate) warnings: Vec<String>,
}

impl Here {
    pub(crate) fn look(app: &StorelessApp, folder: &str) -> Result<Self, AppError> {
        let loaded = app.settings(Path::new(folder))?;
        let warnings: Vec<String> =
            loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded)).collect();
        match Providers::new(&loaded.config.model_providers) {
            Ok(providers) => Ok(Self { providers, file: keys::file(&app.env), warnings }),
            Err(error) => Err(of_setup(error).after(&warnings)),
        }
    }

    /// Where the file is.
    fn path(&self) -> String {
        self.file.path().display().to_string()
    }
}

pub(crate) async fn list(app: &StorelessApp, request: ListKeys) -> Result<KeyList, AppError> {
    let here = Here::look(app, &request.folder)?;
    let sources = Keys::find(&app.env);
    let mut keys: Vec<KeyRow> = here.providers.iter().flat_map(|entry| rows(entry, &sources)).collect();
    keys.extend(orphans(&here.providers, &sources));
    // A file that can't be used is told once, not for each provider.
    let problem = sources.kept().err().map(ToString::to_string);
    if problem.is_some() {
        keys.retain(|row| row.source != KeyPlace::File);
    }
    Ok(KeyList { keys, file: here.path(), problem, warnings: here.warnings })
}

fn rows(entry: &ProviderEntry, sources: &Keys<'_>) -> Vec<KeyRow> {
    let mut used = false;
    let mut rows = Vec::new();
    for &source in KeyPlace::ALL {
        let (found, problem) = match credentials_in(source, entry, sources) {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        if found.is_empty() && problem.is_none() {
            continue;
        }
        let first = !std::mem::replace(&mut used, true);
        let mut names: Vec<String> = found.iter().map(|credential| credential.key().source().to_owned()).collect();
        names.dedup();
        rows.push(KeyRow {
            provider: entry.name.clone(),
            source: source.into(),
            names,
            keys: found.len(),
            endings: found.iter().map(|credential| credential.key().ending().map(str::to_owned)).collect(),
            used: first && problem.is_none(),
            problem,
            login: found.iter().any(|credential| matches!(credential, Credential::Login(_))),
        });
    }
    rows
}

/// What is kept for providers that are not configured any more.
fn orphans(providers: &Providers, sources: &Keys<'_>) -> Vec<KeyRow> {
    let kept = sources.kept().into_iter().flatten();
    kept.filter(|(name, _)| providers.get(name).is_err() && !is_of_server(name))
        .map(|(name, kept)| {
            let keys = kept.keys.len() + usize::from(kept.login.is_some());
            KeyRow {
                provider: name.clone(),
                source: KeyPlace::File.into(),
                names: Vec::new(),
                keys,
                endings: vec![None; keys],
                used: false,
                problem: Some("there is no such provider any more".to_owned()),
                login: false,
            }
        })
        .collect()
}

pub(crate) async fn set(app: &StorelessApp, request: SetKey) -> Result<KeptKey, AppError> {
    let here = Here::look(app, &request.folder)?;
    let test = match request.check {
        true => check(&here, &request).await.map_err(|error| error.after(&here.warnings))?,
        false => None,
    };
    let kept = keep(app, &here, &request).map_err(|error| error.after(&here.warnings))?;
    Ok(KeptKey { file: here.path(), test: test.map(Known::This), warnings: here.warnings, ..kept })
}

/// Asks the provider whether it takes the key that is to be kept.
async fn check(here: &Here, request: &SetKey) -> Result<Option<KeyTest>, AppError> {
    let provider = &request.provider;
    let entry = here.providers.get(provider).map_err(of_setup)?;
    let Some(typed) = &request.key else { return Ok(None) };
    let key = Key::new(checked(&typed.0)?.expose_secret(), "");
    // What a login gives is traded for another key first.
    let Some(key) = key.filter(|_| entry.login.is_none()) else { return Ok(None) };
    match neco_model::try_key(entry, &key, CHECK).await {
        KeyTrial::Refused => {
            let words = format!("{provider} refuses this key; it was not saved");
            let hint = "Copy it again, whole, or make a new one where the provider has them.";
            Err(AppError { code: Some(ErrorCode::NotAuthorised), ..AppError::new(Trouble::NoModel, words).hint(hint) })
        }
        KeyTrial::Works => Ok(Some(KeyTest::Works)),
        KeyTrial::Unreachable => Ok(Some(KeyTest::Unreachable)),
        KeyTrial::Unsaid => Ok(None),
    }
}

fn keep(app: &StorelessApp, here: &Here, request: &SetKey) -> Result<KeptKey, AppError> {
    let provider = &request.provider;
    let entry = here.providers.get(provider).map_err(of_setup)?;
    if entry.kind == ProviderType::Scripted {
        return Err(invalid(format!("{provider} plays a script; it needs no key")));
    }
    let kept = here.file.read().map_err(failed)?;
    let Some(typed) = &request.key else {
        let keys = kept.get(provider).map_or(0, |kept| kept.keys.len());
        let (hidden_by, has_login) = (earlier(entry, app), entry.login.is_some());
        return Ok(KeptKey { keys, hidden_by, has_login, ..KeptKey::default() });
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
    Ok(KeptKey { hidden_by: earlier(entry, app), ..changed.map_err(failed)? })
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
fn earlier(entry: &ProviderEntry, app: &StorelessApp) -> Option<Known<KeyPlace>> {
    let sources = Keys::find(&app.env);
    let has_keys = |place: &KeyPlace| credentials_in(*place, entry, &sources).is_ok_and(|found| !found.is_empty());
    KeyPlace::ALL.iter().copied().find(has_keys).filter(|place| *place != KeyPlace::File).map(Known::This)
}

pub(crate) async fn remove(app: &StorelessApp, request: RemoveKeys) -> Result<RemovedKeys, AppError> {
    let here = Here::look(app, &request.folder)?;
    let removed = forget(app, &here, &request).map_err(|error| error.after(&here.warnings))?;
    Ok(RemovedKeys { file: here.path(), warnings: here.warnings, ..removed })
}

fn forget(app: &StorelessApp, here: &Here, request: &RemoveKeys) -> Result<RemovedKeys, AppError> {
    let provider = request.provider.as_str();
    // What is kept for a provider that is not configured any more can be removed too.
    let kept = here.file.read().map_err(failed)?;
    let Some(kept) = kept.get(provider) else { return Err(nothing_kept(provider, here, app)) };
    if let Some(number) = &request.number {
        let at = place_of(number, kept.keys.len())?;
        here.file.change(|kept| remove_one(kept, provider, at)).map_err(failed)?;
        return Ok(RemovedKeys { keys: 1, ..RemovedKeys::default() });
    }
    let removed = here.file.change(|kept| kept.remove(provider)).map_err(failed)?.unwrap_or_default();
    Ok(RemovedKeys { keys: removed.keys.len(), login: removed.login.is_some(), ..RemovedKeys::default() })
}

/// The place of a key among `count`. What was written is not repeated: it may be a key.
fn place_of(number: &str, count: usize) -> Result<usize, AppError> {
    let known = number.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let there = match count {
        0 => "there are no keys".to_owned(),
        1 => "there is only key 1".to_owned(),
        count => format!("there are keys 1 to {count}"),
    };
    known.map(|number| number - 1).ok_or_else(|| {
        let words = format!("no key of that number: {there}; `neco auth list` shows them");
        invalid(words)
    })
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

fn nothing_kept(provider: &str, here: &Here, app: &StorelessApp) -> AppError {
    let entry = match here.providers.get(provider) {
        Ok(entry) => entry,
        Err(error) => return of_setup(error),
    };
    let set: Vec<&str> =
        entry.api_key_envs.iter().map(String::as_str).filter(|variable| app.env.is_set(variable)).collect();
    let error = failed(format!("{provider} has no key in {}", here.path()));
    match set.as_slice() {
        [] => error,
        set => error.hint(format!("Its key is in the environment: unset {}.", set.join(" "))),
    }
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
