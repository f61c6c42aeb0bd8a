//! `neco session export` and `neco session import`: a session as a file, and sessions out of files or of other programs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use neco_config::Env;
use neco_proto::app::port::{
    ExportFormat, ExportSession, FindForeignSessions, ForeignSession, ImportSession, ImportedSession, Program,
};
use neco_proto::visible;
use neco_view::export_line::format_of;
use neco_view::paint::lists::imported::{self, as_json, as_lines};
use neco_view::short_id::short_id;
use serde_json::{Value, json};

use super::args::{ExportArgs, ImportArgs};
use super::desk::Desk;
use crate::args::EverywhereArgs;
use crate::cmd::confirm::person;
use crate::cmd::program::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::figures::count;
use crate::say::{self, unwritten};

/// Bytes that are taken from what is piped in.
const MOST_PIPED: u64 = 256 * 1024 * 1024;
/// The most sessions of one list.
const MOST: usize = 200;

/// Writes a session to a file or to stdout.
pub(super) async fn export(args: &ExportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    // As everywhere, a dash is no file.
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let format = format_of(args.format, file)?;
    let folder = desk.folder(args.id.is_none())?;
    let request = |file: &Path| ExportSession {
        session: args.id.clone(),
        folder: folder.clone(),
        format,
        file: file.display().to_string(),
        over: args.force,
        with_keys: args.no_redact,
    };
    match file {
        Some(file) => {
            let done = desk.ask(&request(file)).await?;
            let events = count(done.events, "event");
            say::out(&format!("exported {events} of session {} to {}\n", done.session, desk.env.shown(file)))?;
        }
        // A screen full of events is for nobody: somebody at a terminal gets a file to read, where they are.
        None if is_for_a_person(args) => {
            let session = desk.named(args.id.as_deref()).await?.id;
            let name = format!("neco-{}.md", short_id(session));
            let request = ExportSession {
                session: Some(session.to_string()),
                format: ExportFormat::Markdown,
                ..request(Path::new(&name))
            };
            desk.ask(&request).await?;
            let more = "-o FILE.html or --format jsonl give another format, -o - prints it";
            say::out(&format!("exported to {name}; {more}\n"))?;
        }
        None => {
            let folder = tempfile::tempdir().map_err(|error| unwritten(&error))?;
            let file = folder.path().join("session");
            desk.ask(&request(&file)).await?;
            match to_stdout(&file, format) {
                // A reader that has had enough is no error.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(unwritten(&error)),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(Exit::Done)
}

/// Whether neither a file nor a format was asked for, at a terminal.
fn is_for_a_person(args: &ExportArgs) -> bool {
    args.output.is_none() && args.format.is_none() && io::stdout().is_terminal()
}

/// Copies what was written; a terminal must not be steered by what is shown on it.
fn to_stdout(file: &Path, format: ExportFormat) -> io::Result<()> {
    let (mut written, stdout) = (BufReader::new(File::open(file)?), io::stdout());
    let is_shown = format == ExportFormat::Jsonl && stdout.is_terminal();
    let mut out = BufWriter::new(stdout);
    if is_shown {
        for line in written.lines() {
            writeln!(out, "{}", visible::json(&line?))?;
        }
    } else {
        io::copy(&mut written, &mut out)?;
    }
    out.flush()
}

/// Takes sessions in.
pub(super) async fn import(args: &ImportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let chosen = match args.from {
        None => return files_in(args, desk).await,
        Some(Program::Neco) => {
            return Err(Failure::usage("sessions of Neco are in the store already; --from is for other programs"));
        }
        Some(from) => chosen(from, args, desk).await?,
    };
    let Some(chosen) = chosen else { return Ok(Exit::Done) };
    let mut told = Vec::new();
    for session in chosen {
        let request = ImportSession { entry: session.entry, ..request(session.file, args, desk)? };
        told.push(desk.ask(&request).await?);
    }
    let values: Vec<Value> = told.iter().map(as_json).collect();
    print(args.json, &values, || told.iter().map(as_lines).collect::<Vec<_>>().join("\n"))
}

/// Takes in one file after the other. One that is no session keeps the others from nothing, and each is told as it comes.
async fn files_in(args: &ImportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for file in &args.which {
        match file_in(file, args, desk).await {
            Ok(told) if args.json.json => all.push(as_json(&told)),
            Ok(told) => say::out(&as_lines(&told))?,
            Err(failure) => {
                all.push(json!({ "file": file, "error": failure.message }));
                failed.push(failure);
            }
        }
    }
    if args.json.json && failed.len() < args.which.len() {
        print(args.json, &all, String::new)?;
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

async fn file_in(file: &str, args: &ImportArgs, desk: &Desk<'_>) -> Result<ImportedSession, Failure> {
    let request = request(file.to_owned(), args, desk)?;
    if file != "-" {
        return Ok(desk.ask(&request).await?);
    }
    let piped = piped()?;
    let file = piped.path().display().to_string();
    Ok(desk.ask(&ImportSession { file, name: Some("stdin".to_owned()), ..request }).await?)
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

/// The sessions that are meant; nothing when only the list was wanted.
async fn chosen(from: Program, args: &ImportArgs, desk: &Desk<'_>) -> Result<Option<Vec<ForeignSession>>, Failure> {
    let cwd = folder_as_named(desk)?;
    let request = FindForeignSessions { program: from, folder: cwd.display().to_string(), limit: MOST };
    let found = desk.ask(&request).await?.sessions;
    if found.is_empty() {
        let words = format!("{} has no sessions of {} here", from.name(), desk.env.shown(&cwd));
        return Err(Failure::new(Exit::Failed, words)
            .hint("--cwd names another folder, by its old name if it was moved; a file can be named too."));
    }
    if !args.which.is_empty() {
        return picked(found, &args.which).map(Some);
    }
    if args.json.json {
        print(args.json, &imported::foreign_json(&found), String::new)?;
        return Ok(None);
    }
    let list = imported::foreign(&found, Timestamp::now());
    match asked(&list, desk.env) {
        Some(words) if words.is_empty() => Ok(None),
        Some(words) => picked(found, &words).map(Some),
        None => {
            let hint = format!("\nto import some of them: neco session import --from {} 1 3, or all\n", from.name());
            say::out(&(list + &hint))?;
            Ok(None)
        }
    }
}

/// The folder whose sessions are wanted. One that is gone was moved, perhaps: they bear its old name.
fn folder_as_named(desk: &Desk<'_>) -> Result<PathBuf, Failure> {
    match &desk.everywhere.cwd {
        Some(gone) if gone.is_absolute() && !gone.exists() => Ok(gone.clone()),
        Some(_) | None => crate::folder(desk.everywhere),
    }
}

/// What a person answers; nothing when nobody is there.
fn asked(list: &str, env: &Env) -> Option<Vec<String>> {
    let answer = person(env)?.ask(&format!("{list}Which ones? Numbers, all, or Enter for none: "))?;
    Some(answer.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

fn picked(found: Vec<ForeignSession>, words: &[String]) -> Result<Vec<ForeignSession>, Failure> {
    if words.iter().any(|word| word == "all") {
        return Ok(found);
    }
    for word in words {
        if !found.iter().zip(1..).any(|(session, number)| is_meant(session, number, word)) {
            return Err(Failure::usage(format!("{word} is none of the {} sessions", found.len()))
                .hint("Without a number they are listed; `all` takes all of them."));
        }
    }
    let is_meant =
        |(session, number): &(ForeignSession, usize)| words.iter().any(|word| is_meant(session, *number, word));
    Ok(found.into_iter().zip(1..).filter(is_meant).map(|(session, _)| session).collect())
}

/// Whether a word means this one: its number, or the beginning of its id.
fn is_meant(session: &ForeignSession, number: usize, word: &str) -> bool {
    let by_id = word.len() >= 4 && session.id.as_ref().is_some_and(|id| id.starts_with(word));
    word.parse() == Ok(number) || by_id
}
