//! Files, and what comes of each.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::keep::Keeper;
use super::told::Told;
use super::{choose, ours};
use crate::cmd::session::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::ImportArgs;
use crate::say;
use neco_port::import::format::{Record, records};
use neco_port::import::places::gemini_folder;
use neco_port::import::{Foreign, Format, read};

/// Bytes of a file that tell its format: the first lines.
const LOOK: usize = 1024 * 1024;

/// Bytes that are taken from what is no file.
const MOST_PIPED: u64 = 256 * 1024 * 1024;

/// Takes sessions in.
///
/// # Errors
/// When a file can't be read or is nobody's session, or the store can't be written.
pub(in crate::cmd::session) async fn run(args: &ImportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let keeper = Keeper { desk, redactor: desk.redactor(), again: args.again, looks: args.from.is_some() };
    let mut told = Vec::new();
    match args.from {
        Some(Format::Neco) => {
            return Err(Failure::usage("sessions of Neco are in the store already; --from is for other programs"));
        }
        Some(from) => match choose::chosen(from, args, &keeper).await? {
            None => return Ok(Exit::Done),
            Some(chosen) => {
                for candidate in chosen {
                    told.push(keeper.foreign(from, candidate.load(from).await?, &candidate.file()).await?);
                }
            }
        },
        None => return files_in(&keeper, args).await,
    }
    let text = match args.json {
        true => format!("{:#}\n", Value::from(told.iter().map(Told::json).collect::<Vec<_>>())),
        false => told.iter().map(Told::lines).collect::<Vec<_>>().join("\n"),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// Takes in one file after the other. One that is no session keeps the others from nothing, and each is told as it comes.
async fn files_in(keeper: &Keeper<'_>, args: &ImportArgs) -> Result<Exit, Failure> {
    let (mut all, mut failed) = (Vec::new(), Vec::new());
    for file in &args.which {
        match file_in(keeper, file, args.format).await {
            Ok(told) if args.json => all.push(told.json()),
            Ok(told) => say::out(&told.lines())?,
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

async fn file_in(keeper: &Keeper<'_>, file: &str, format: Option<Format>) -> Result<Told, Failure> {
    if file == "-" {
        return piped_in(keeper, std::io::stdin(), "stdin", format).await;
    }
    let path = PathBuf::from(file);
    let shown = keeper.desk.env.shown(&path);
    if !opened(&path, &shown)?.metadata().is_ok_and(|facts| facts.is_file()) {
        // What is no file on a disk can be read once.
        return piped_in(keeper, opened(&path, &shown)?, &shown, format).await;
    }
    let head = opened(&path, &shown)?.take(LOOK as u64);
    let format = format.or_else(|| Format::of(&records(BufReader::new(head)).unwrap_or_default()));
    if format == Some(Format::Neco) {
        return ours::take(keeper, &shown, || opened(&path, &shown).map(BufReader::new)).await;
    }
    let lines = lines(BufReader::new(opened(&path, &shown)?), &shown)?;
    foreign(keeper, format.or_else(|| Format::of(&lines)), lines, &shown, Some(&path)).await
}

async fn piped_in(keeper: &Keeper<'_>, input: impl Read, shown: &str, format: Option<Format>) -> Result<Told, Failure> {
    let mut bytes = Vec::new();
    let cannot = |error: String| Failure::new(Exit::Failed, format!("{shown} can't be read: {error}"));
    input.take(MOST_PIPED + 1).read_to_end(&mut bytes).map_err(|error| cannot(error.to_string()))?;
    if bytes.len() as u64 > MOST_PIPED {
        return Err(cannot("it does not end".to_owned()).hint("A big session is imported from a file."));
    }
    let lines = lines(Cursor::new(bytes.as_slice()), shown)?;
    match format.or_else(|| Format::of(&lines)) {
        Some(Format::Neco) => ours::take(keeper, shown, || Ok(Cursor::new(bytes.as_slice()))).await,
        format => foreign(keeper, format, lines, shown, None).await,
    }
}

async fn foreign(
    keeper: &Keeper<'_>,
    format: Option<Format>,
    lines: Vec<Record>,
    shown: &str,
    path: Option<&Path>,
) -> Result<Told, Failure> {
    let names: Vec<&str> = Format::FOREIGN.iter().map(|format| format.name()).collect();
    let nobody = || {
        Failure::usage(format!("{shown} is no session of Neco, {}", names.join(", ")))
            .hint("--format names the program that wrote it.")
    };
    let format = format.ok_or_else(nobody)?;
    let empty = || Failure::usage(format!("{shown} holds nothing that was said to {} or by it", format.name()));
    let foreign = loaded(format, lines, path).filter(|foreign| foreign.messages() > 0).ok_or_else(empty)?;
    let file =
        path.and_then(|path| path.canonicalize().ok()).map_or(shown.to_owned(), |path| path.display().to_string());
    keeper.foreign(format, foreign, &file).await
}

/// The session in a file, with what lies beside the file.
pub(super) fn loaded(format: Format, lines: Vec<Record>, path: Option<&Path>) -> Option<Foreign> {
    let mut foreign = read(format, lines)?;
    if format == Format::GeminiCli && foreign.cwd.is_none() {
        foreign.cwd = path.and_then(gemini_folder).map(|folder| folder.display().to_string());
    }
    Some(foreign)
}

fn opened(path: &Path, shown: &str) -> Result<File, Failure> {
    let file = File::open(path).and_then(|file| file.metadata().map(|data| (file, data.is_dir())));
    match file {
        Ok((file, false)) => Ok(file),
        Ok((_, true)) => Err(Failure::usage(format!("{shown} is a folder"))),
        Err(error) => Err(Failure::usage(format!("{shown} can't be read: {error}"))),
    }
}

fn lines(input: impl std::io::BufRead, shown: &str) -> Result<Vec<Record>, Failure> {
    records(input).map_err(|error| Failure::new(Exit::Failed, format!("{shown} can't be read: {error}")))
}
