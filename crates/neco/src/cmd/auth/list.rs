//! `neco auth list`: which providers have keys, and where.

use std::fmt::Write;

use neco_app::workspace::keys::{self, Keys};
use neco_config::Env;
use neco_model::route::{Credential, KeyPlace, ProviderEntry, Providers};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::say;

/// Columns before what follows a line that is too wide.
const HANGING: usize = 4;

/// What one provider has in one place.
struct Row {
    provider: String,
    place: KeyPlace,
    /// What a person would call the place: variables by name, a login as such.
    sources: Vec<String>,
    /// The last characters of each key, where they may be shown.
    endings: Vec<Option<String>>,
    /// Whether these keys are the ones that are sent.
    used: bool,
    /// Why there is nothing to be seen.
    problem: Option<String>,
}

/// Prints them.
///
/// # Errors
/// When stdout can't be written.
pub fn run(providers: &Providers, env: &Env, json: bool) -> Result<Exit, Failure> {
    let sources = Keys::find(env);
    let mut rows: Vec<Row> = providers.iter().flat_map(|entry| rows(entry, &sources)).collect();
    rows.extend(orphans(providers, &sources));
    // A file that can't be used is said once, not for each provider.
    if let Err(reason) = sources.kept() {
        rows.retain(|row| row.place != KeyPlace::File);
        say::note(reason);
    }
    match json {
        true => say::out(&as_json(&rows))?,
        false => say::lines(&as_lines(&rows, env), HANGING)?,
    }
    Ok(if sources.kept().is_ok() { Exit::Done } else { Exit::Failed })
}

fn rows(entry: &ProviderEntry, sources: &Keys<'_>) -> Vec<Row> {
    let mut used = false;
    let mut rows = Vec::new();
    for place in KeyPlace::ALL {
        let (found, problem) = match place.credentials(entry, sources) {
            Ok(found) => (found, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        if found.is_empty() && problem.is_none() {
            continue;
        }
        let first = !std::mem::replace(&mut used, true);
        let ending = |credential: &Credential| credential.key().ending().map(str::to_owned);
        let mut names: Vec<String> = found.iter().map(|credential| credential.key().source().to_owned()).collect();
        names.dedup();
        rows.push(Row {
            provider: entry.name.clone(),
            place,
            sources: names,
            endings: found.iter().map(ending).collect(),
            used: first && problem.is_none(),
            problem,
        });
    }
    rows
}

/// What is kept for providers that are not configured any more.
fn orphans(providers: &Providers, sources: &Keys<'_>) -> Vec<Row> {
    let kept = sources.kept().into_iter().flatten();
    kept.filter(|(name, _)| providers.get(name).is_err())
        .map(|(name, kept)| Row {
            provider: name.clone(),
            place: KeyPlace::File,
            sources: Vec::new(),
            endings: vec![None; kept.keys.len() + usize::from(kept.login.is_some())],
            used: false,
            problem: Some("there is no such provider any more".to_owned()),
        })
        .collect()
}

fn as_lines(rows: &[Row], env: &Env) -> String {
    if rows.is_empty() {
        return "no keys; `neco auth set PROVIDER` keeps one\n".to_owned();
    }
    let width = rows.iter().map(|row| row.provider.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let count = match row.endings.len() {
            1 => "1 key ".to_owned(),
            count => format!("{count} keys"),
        };
        let endings = endings(&row.endings);
        let remark = match (&row.problem, row.used) {
            (Some(problem), _) => problem.clone(),
            (None, true) => String::new(),
            (None, false) => "not used: the ones above go first".to_owned(),
        };
        let parts = [place(row, env), endings, remark].into_iter().filter(|part| !part.is_empty());
        let rest = clean_line(&parts.collect::<Vec<_>>().join("  "));
        let _ = writeln!(text, "{:<width$}  {count}  {rest}", clean_line(&row.provider));
    }
    text
}

/// The last characters of each key, with its number where there are several.
fn endings(endings: &[Option<String>]) -> String {
    let shown = |ending: &Option<String>| ending.as_ref().map_or_else(|| "…".to_owned(), |ending| format!("…{ending}"));
    match endings {
        [] | [None] => String::new(),
        [one] => shown(one),
        several => {
            let numbered = several.iter().enumerate().map(|(at, ending)| format!("({}) {}", at + 1, shown(ending)));
            numbered.collect::<Vec<_>>().join(" ")
        }
    }
}

fn place(row: &Row, env: &Env) -> String {
    match row.place {
        KeyPlace::Environment => row.sources.join(", "),
        KeyPlace::File if row.sources.iter().any(|source| source == "the login") => {
            format!("{} (login)", keys::file(env).path().display())
        }
        KeyPlace::File => keys::file(env).path().display().to_string(),
        KeyPlace::Configuration | KeyPlace::Keyring => row.place.to_string(),
    }
}

fn as_json(rows: &[Row]) -> String {
    let row = |row: &Row| {
        json!({
            "provider": row.provider,
            "source": row.place.to_string(),
            "names": row.sources,
            "keys": row.endings.len(),
            "endings": row.endings,
            "used": row.used,
            "problem": row.problem,
        })
    };
    format!("{:#}\n", Value::Array(rows.iter().map(row).collect()))
}
