//! Forgets what is kept for a provider, or one key of it.

use neco_model::route::KeptKeys;
use neco_proto::app::keys::{RemoveKeys, RemovedKeys};
use neco_proto::app::{AppError, Trouble};

use super::here::{Here, of_file};
use crate::app::StorelessApp;
use crate::error::of_setup;

pub(crate) async fn remove(app: &StorelessApp, request: RemoveKeys) -> Result<RemovedKeys, AppError> {
    let here = Here::look(app, &request.folder)?;
    let removed = forget(app, &here, &request).map_err(|error| error.after(&here.warnings))?;
    Ok(RemovedKeys { file: here.path(), warnings: here.warnings, ..removed })
}

fn forget(app: &StorelessApp, here: &Here, request: &RemoveKeys) -> Result<RemovedKeys, AppError> {
    let provider = request.provider.as_str();
    // What is kept for a provider that is not configured any more can be removed too.
    let kept = here.file.read().map_err(of_file)?;
    let Some(kept) = kept.get(provider) else { return Err(nothing_kept(provider, here, app)) };
    if let Some(number) = &request.number {
        let at = place_of(number, kept.keys.len())?;
        here.file.change(|kept| remove_one(kept, provider, at)).map_err(of_file)?;
        return Ok(RemovedKeys { keys: 1, ..RemovedKeys::default() });
    }
    let removed = here.file.change(|kept| kept.remove(provider)).map_err(of_file)?.unwrap_or_default();
    Ok(RemovedKeys { keys: removed.keys.len(), login: removed.login.is_some(), ..RemovedKeys::default() })
}

/// The place of a key among `count`. What was written is not repeated: it may be a key.
fn place_of(number: &str, count: usize) -> Result<usize, AppError> {
    let known = number.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let there = match count {
        0 => "no keys are kept".to_owned(),
        1 => "there is only key 1".to_owned(),
        count => format!("there are keys 1 to {count}"),
    };
    known.map(|number| number - 1).ok_or_else(|| {
        let words = format!("that is no number of a key: {there}; `neco auth list` shows them");
        AppError::new(Trouble::Invalid, words)
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
    let error = AppError::new(Trouble::Failed, format!("nothing is kept for {provider} in {}", here.path()));
    match set.as_slice() {
        [] => error,
        set => error.hint(format!("Its key is in the environment: unset {}.", set.join(" "))),
    }
}
