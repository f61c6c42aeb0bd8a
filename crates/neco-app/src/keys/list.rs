//! Which providers have keys, and where.

use neco_model::route::{Credential, ProviderEntry, Providers, credentials_in};
use neco_proto::app::AppError;
use neco_proto::app::keys::{KeyList, KeyPlace, KeyRow, ListKeys};

use super::here::Here;
use crate::app::StorelessApp;
use crate::workspace::keys::Keys;

pub(crate) async fn list(app: &StorelessApp, request: ListKeys) -> Result<KeyList, AppError> {
    let here = Here::look(app, &request.folder)?;
    let sources = Keys::find(&app.env);
    let mut keys: Vec<KeyRow> = here.providers.iter().flat_map(|entry| rows(entry, &sources)).collect();
    keys.extend(orphans(&here.providers, &sources));
    // A file that can't be used is told once, not for each provider.
    let problem = sources.kept().err().map(str::to_owned);
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
            source,
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
    kept.filter(|(name, _)| providers.get(name).is_err())
        .map(|(name, kept)| {
            let keys = kept.keys.len() + usize::from(kept.login.is_some());
            KeyRow {
                provider: name.clone(),
                source: KeyPlace::File,
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
