//! Files, and what comes of each.

use std::io::{self, Read};
use std::path::Path;

use neco_proto::app::port::{ImportSession, ImportedSession, Program};
use neco_proto::app::{App, Caller};
use serde_json::{Value, json};

use super::choose;
use super::told::{as_json, as_lines};
use crate::args::EverywhereArgs;
use crate::cmd::session::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::ImportArgs;
use crate::say;

/// Bytes that are taken from what is piped in.
const MOST_PIPED: u64 = 256 * 1024 * 1024;

/// Takes sessions in.
///
/// # Errors
/// When a file can't be read or is nobody's session, or the store can't be written.
pub(in crate::cmd::session) async fn run(args: &ImportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let app: &dyn App = &desk.app();
    let chosen = match args.from {
        None => return files_in(args, app, desk).await,
        Some(Program::Neco) => {
            return Err(Failure::usage("sessions of Neco are in the store already; --from is for other programs"));
        }
        Some(from) => choose::chosen(from, args, app, desk).await?,
    };
    let Some(chosen) = chosen else { return Ok(Exit::Done) };
    let mut told = Vec::new();
    for session in chosen {
        let request = ImportSession { entry: session.entry, ..request(session.file, args, desk)? };
        told.push(app.ask(&Caller::person(), &request).await?);
    }
    let text = match args.json {
        true => format!("{:#}\n", Value::from(told.iter().map(as_json).collect::<Vec<_>>())),
        false => told.iter().map(as_lines).collect::<Vec<_>>().join("\n"),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// Takes in one file after the other. One that is no session keeps the others from nothing, and each is told as it comes.
async fn files_in(args: &ImportArgs, app: &dyn App, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for file in &args.which {
        match file_in(file, args, app, desk).await {
            Ok(told) if args.json => all.push(as_json(&told)),
            Ok(told) => say::out(&as_lines(&told))?,
            Err(failure) => {
                all.push(json!({ "file": file, "error": failure.message }));
                failed.push(failure);
            }
        }
    }
    if args.json && failed.len() < args.which.len() {
        say::out(&format!("{:#}\n", Value::from(all)))?;
    }
    let Some(last) = failed.pop() else { return Ok(Exit::Done) };
    failed.iter().for_each(say::failure);
    if args.which.len() == 1 {
        return Err(last);
    }
    say::failure(&last);
    let were = if failed.is_empty() { "was" } else { "were" };
    let words = format!("{} of {} files {were} not imported", failed.len() + 1, args.which.len());
    Err(Failure::new(last.exit, words))
}

async fn file_in(file: &str, args: &ImportArgs, app: &dyn App, desk: &Desk<'_>) -> Result<ImportedSession, Failure> {
    let request = request(file.to_owned(), args, desk)?;
    if file != "-" {
        return Ok(app.ask(&Caller::person(), &request).await?);
    }
    let piped = piped()?;
    let file = piped.path().display().to_string();
    Ok(app.ask(&Caller::person(), &ImportSession { file, name: Some("stdin".to_owned()), ..request }).await?)
}

/// What is piped in, as a file.
fn piped() -> Result<tempfile::NamedTempFile, Failure> {
    let cannot = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("stdin can't be read: {error}"));
    let mut file = tempfile::NamedTempFile::new().map_err(|error| cannot(&error))?;
    let input = &mut io::stdin().lock().take(MOST_PIPED + 1);
    match io::copy(input, &mut file) {
        Ok(bytes) if bytes > MOST_PIPED => {
            Err(cannot(&"it does not end").hint("A big session is imported from a file."))
        }
        Ok(_) => Ok(file),
        Err(error) => Err(cannot(&error)),
    }
}

/// A session goes on in the folder that a person names, else in its own.
fn request(file: String, args: &ImportArgs, desk: &Desk<'_>) -> Result<ImportSession, Failure> {
    // The old name of a folder that was moved says which sessions are meant, not where they go on.
    let named = desk.everywhere.cwd.clone().filter(|named| args.from.is_none() || Path::exists(named));
    let moves = named.is_some();
    let folder = crate::folder(&EverywhereArgs { cwd: named, ..desk.everywhere.clone() })?.display().to_string();
    let program = args.from.or(args.format);
    Ok(ImportSession { file, entry: None, name: None, program, folder, moves, again: args.again })
}
