//! `neco session export`: a session as a file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

use neco_proto::app::port::ExportSession;
use neco_proto::app::{App, Caller};
use neco_proto::visible;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::{ExportArgs, ExportFormat};
use crate::print::figures::count;
use crate::say;

/// Writes a session to a file or to stdout, and says so of a file.
pub(super) async fn run(args: &ExportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    if let Some(words) = export(args, desk).await? {
        say::out(&words)?;
    }
    Ok(Exit::Done)
}

/// Writes a session to a file or to stdout; what is to be said of a file.
///
/// # Errors
/// When there is no such session, or it can't be written.
pub async fn export(args: &ExportArgs, desk: &Desk<'_>) -> Result<Option<String>, Failure> {
    // As everywhere, a dash is no file.
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let format = format_of(args.format, file)?;
    let app: &dyn App = &desk.app();
    let folder = desk.folder(args.id.is_none())?;
    let request = |file: &Path| ExportSession {
        session: args.id.clone(),
        folder: folder.clone(),
        format: format.into(),
        file: file.display().to_string(),
        over: args.force,
        with_keys: args.no_redact,
    };
    match file {
        Some(file) => {
            let done = app.ask(&Caller::person(), &request(file)).await?;
            let events = count(done.events, "event");
            Ok(Some(format!("exported {events} of session {} to {}\n", done.session, desk.env.shown(file))))
        }
        None => {
            let folder = tempfile::tempdir().map_err(|error| cannot(&error))?;
            let file = folder.path().join("session");
            app.ask(&Caller::person(), &request(&file)).await?;
            match to_stdout(&file, format) {
                // A reader that has had enough is no error.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(cannot(&error)),
                Ok(()) | Err(_) => Ok(None),
            }
        }
    }
}

fn cannot(error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("stdout can't be written: {error}"))
}

/// The format that was named, else that of the ending; they must not say different things.
fn format_of(named: Option<ExportFormat>, file: Option<&Path>) -> Result<ExportFormat, Failure> {
    let Some(file) = file else { return Ok(named.unwrap_or(ExportFormat::Jsonl)) };
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let of_ending = match ending.as_str() {
        "jsonl" | "json" | "ndjson" => Some(ExportFormat::Jsonl),
        "md" | "markdown" => Some(ExportFormat::Markdown),
        "html" | "htm" => Some(ExportFormat::Html),
        _ => None,
    };
    match (named, of_ending) {
        (Some(named), Some(other)) if named != other => {
            Err(Failure::usage(format!("{} is no name for what --format asks for", file.display()))
                .hint("The endings are .jsonl, .md and .html; without --format they say the format."))
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => Err(Failure::usage(format!("the ending of {} says no format", file.display()))
            .hint("Name it .jsonl, .md or .html, or add --format.")),
    }
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
