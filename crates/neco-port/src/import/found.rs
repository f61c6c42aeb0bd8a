//! The sessions that another agent has of a folder.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_proto::Part;
use neco_proto::app::port::{ForeignSession, Program};
use neco_proto::clean::clean_line;
use neco_store::{Catalog, SqliteStore};
use serde_json::Value;

use super::database::{openclaw_session, openclaw_sessions, opencode_session, opencode_sessions};
use super::events::session_id;
use super::foreign::{Foreign, What};
use super::format::{Record, read, records};
use super::places::{Homes, gemini_folder};
use crate::error::PortError;

/// Finds the sessions that a program has of a folder, at most `limit`; the one used last comes first.
/// Fails when a database can't be read, or the store.
pub async fn found(
    program: Program,
    cwd: &Path,
    limit: usize,
    store: &SqliteStore,
    env: &Env,
) -> Result<Vec<ForeignSession>, PortError> {
    let mut found = Vec::new();
    for (file, entry) in places(program, Some(cwd), env).await? {
        // One at a time: together they may be more than there is memory.
        let Some(foreign) = load(program, &file, entry.as_deref()).await? else { continue };
        let id = session_id(program, &foreign).to_string();
        let imported = !store.find(&id, 1).await?.is_empty();
        found.push(ForeignSession {
            file: file.display().to_string(),
            entry,
            title: title_of(&foreign),
            messages: foreign.messages(),
            last: foreign.items.iter().filter_map(|item| item.at).max(),
            imported,
            id: foreign.id,
        });
        if found.len() >= limit {
            break;
        }
    }
    found.sort_by_key(|session| std::cmp::Reverse(session.last));
    Ok(found)
}

/// Where all sessions of a program lie, those of every folder: files, and entries of databases.
/// Fails when a database can't be read.
pub async fn everywhere(program: Program, env: &Env) -> Result<Vec<(PathBuf, Option<String>)>, PortError> {
    places(program, None, env).await
}

/// What lies in a file, or in an entry of a database; nothing when it is no session, or nothing was said in it.
/// Fails when the database can't be read.
pub(super) async fn load(program: Program, file: &Path, entry: Option<&str>) -> Result<Option<Foreign>, PortError> {
    let record = |json: Value| Record { json: Some(json), cut: false };
    let lines = match (program, entry) {
        (Program::Opencode, Some(id)) => {
            vec![record(opencode_session(file, id).await.map_err(PortError::Opencode)?)]
        }
        (Program::Openclaw, Some(id)) => {
            let entries = openclaw_session(file, id).await.map_err(|error| odd(file, error))?;
            entries.into_iter().map(record).collect()
        }
        _ => {
            let owned = file.to_owned();
            let read = move || File::open(owned).and_then(|file| records(BufReader::new(file))).ok();
            let Ok(Some(lines)) = tokio::task::spawn_blocking(read).await else { return Ok(None) };
            lines
        }
    };
    Ok(loaded(program, lines, Some(file)).filter(|foreign| foreign.messages() > 0))
}

/// The session in the lines of a file, with what lies beside the file.
pub(super) fn loaded(program: Program, lines: Vec<Record>, path: Option<&Path>) -> Option<Foreign> {
    let mut foreign = read(program, lines)?;
    if program == Program::GeminiCli && foreign.cwd.is_none() {
        foreign.cwd = path.and_then(gemini_folder).map(|folder| folder.display().to_string());
    }
    Some(foreign)
}

/// Where those of a folder lie, or all of them: files, and entries of databases.
async fn places(program: Program, cwd: Option<&Path>, env: &Env) -> Result<Vec<(PathBuf, Option<String>)>, PortError> {
    let homes = Homes::of(env);
    let mut places = Vec::new();
    for file in homes.databases(program) {
        let ids = match program {
            Program::Opencode => opencode_sessions(&file, cwd).await.map_err(PortError::Opencode)?,
            _ => openclaw_sessions(&file, cwd).await.map_err(|error| odd(&file, error))?,
        };
        places.extend(ids.into_iter().map(|id| (file.clone(), Some(id))));
    }
    let owned = cwd.map(Path::to_owned);
    let look = move || homes.files(program, owned.as_deref());
    let files = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    places.extend(files.into_iter().map(|file| (file, None)));
    Ok(places)
}

fn odd(file: &Path, error: sqlx::Error) -> PortError {
    PortError::Database(file.display().to_string(), error)
}

fn title_of(foreign: &Foreign) -> String {
    let first = foreign.items.iter().find_map(|item| match &item.what {
        What::User(parts) => parts.iter().find_map(|part| match part {
            Part::Text { text } => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    });
    clean_line(&foreign.title.clone().filter(|title| !title.trim().is_empty()).or(first).unwrap_or_default())
}
