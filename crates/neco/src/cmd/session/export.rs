//! `neco session export`: a session as a file.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use neco_proto::Event;
use neco_safety::secrets::{Redactor, Scope};
use neco_session::redacted::redact;
use neco_store::SessionRecord;
use neco_store::export::{About, Header, HtmlWriter, JsonlWriter, MarkdownWriter, Outline};

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::{ExportArgs, ExportFormat};
use crate::print::figures::count;
use crate::print::visible;
use crate::say;

/// Writes a session to a file or to stdout.
///
/// # Errors
/// When there is no such session, or it can't be written.
pub(super) async fn run(args: &ExportArgs, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let record = match &args.id {
        Some(id) => desk.hub.find(id).await?,
        None => desk.hub.latest(&crate::folder(desk.everywhere)?).await?.record,
    };
    let export = Export { record: &record, redactor: (!args.no_redact).then(|| desk.redactor()), desk };
    let format = args.format.or_else(|| of_ending(args.output.as_deref()?)).unwrap_or(ExportFormat::Jsonl);
    // As everywhere, a dash is no file.
    match args.output.as_deref().filter(|file| *file != Path::new("-")) {
        None => export.to_stdout(format).await?,
        Some(file) => {
            export.to_file(format, file, args.force).await?;
            let events = count(record.events, "event");
            say::out(&format!("exported {events} of session {} to {}\n", record.id, desk.env.shown(file)))?;
        }
    }
    Ok(Exit::Done)
}

fn of_ending(file: &Path) -> Option<ExportFormat> {
    match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "jsonl" | "json" | "ndjson" => Some(ExportFormat::Jsonl),
        "md" | "markdown" => Some(ExportFormat::Markdown),
        "html" | "htm" => Some(ExportFormat::Html),
        _ => None,
    }
}

struct Export<'a> {
    record: &'a SessionRecord,
    redactor: Option<Redactor>,
    desk: &'a Desk<'a>,
}

impl Export<'_> {
    /// A file that is whole or not there, readable by its owner alone.
    async fn to_file(&self, format: ExportFormat, file: &Path, force: bool) -> Result<(), Failure> {
        let cannot = |error: &io::Error| {
            Failure::new(Exit::Failed, format!("{} can't be written: {error}", self.desk.env.shown(file)))
        };
        if !force && file.symlink_metadata().is_ok() {
            let words = format!("{} is there already", self.desk.env.shown(file));
            return Err(Failure::usage(words).hint("--force writes over it."));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let begun = tempfile::NamedTempFile::new_in(folder).map_err(|error| cannot(&error))?;
        let written = self.write(format, BufWriter::new(begun)).await?.map_err(|error| cannot(&error))?;
        let whole = written.into_inner().map_err(|error| cannot(error.error()))?;
        let kept = if force { whole.persist(file) } else { whole.persist_noclobber(file) };
        kept.map(drop).map_err(|error| cannot(&error.error))
    }

    async fn to_stdout(&self, format: ExportFormat) -> Result<(), Failure> {
        let stdout = io::stdout();
        let written = match format {
            // A terminal must not be steered by what is shown on it.
            ExportFormat::Jsonl if stdout.is_terminal() => self.write(format, Shown(stdout)).await?.map(drop),
            _ => self.write(format, BufWriter::new(stdout)).await?.map(drop),
        };
        match written {
            // A reader that has had enough is no error.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Failed, format!("stdout can't be written: {error}")))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Event by event: a long session is never in memory as a whole. What is to be read is gone through
    /// twice, to know what lies ahead.
    async fn write<W: Write>(&self, format: ExportFormat, out: W) -> Result<io::Result<W>, Failure> {
        let mut outline = Outline::default();
        match format {
            ExportFormat::Jsonl => {}
            ExportFormat::Markdown | ExportFormat::Html => {
                self.each(|event| {
                    outline.read(event);
                    Ok(())
                })
                .await?
                .ok();
            }
        }
        let mut writer = match Writer::new(format, out, self.about(), self.record.events, outline) {
            Ok(writer) => writer,
            Err(error) => return Ok(Err(error)),
        };
        let written = self.each(|event| writer.event(event)).await?;
        Ok(written.and_then(|()| writer.finish()))
    }

    async fn each(&self, mut take: impl FnMut(&Event) -> io::Result<()>) -> Result<io::Result<()>, Failure> {
        let mut written = Ok(());
        self.desk
            .hub
            .each_event(self.record.id, |event| {
                if written.is_err() {
                    return;
                }
                written = match &self.redactor {
                    None => take(event),
                    Some(redactor) => {
                        let mut event = event.clone();
                        redact(&mut event.body, redactor);
                        take(&event)
                    }
                };
            })
            .await?;
        Ok(written)
    }

    fn about(&self) -> About {
        let said = |text: &str| match &self.redactor {
            Some(redactor) => redactor.redact(text, Scope::Said).into_owned(),
            None => text.to_owned(),
        };
        About {
            id: self.record.id,
            title: said(&self.record.title),
            cwd: self.record.cwd.clone(),
            created_ms: self.record.created_ms,
            updated_ms: self.record.updated_ms,
            neco: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// A file that is being written.
enum Writer<W> {
    Jsonl(JsonlWriter<W>),
    Markdown(Box<MarkdownWriter<W>>),
    Html(Box<HtmlWriter<W>>),
}

impl<W: Write> Writer<W> {
    fn new(format: ExportFormat, out: W, about: About, events: u64, outline: Outline) -> io::Result<Self> {
        Ok(match format {
            ExportFormat::Jsonl => Self::Jsonl(JsonlWriter::new(out, &Header::new(about, events))?),
            ExportFormat::Markdown => Self::Markdown(Box::new(MarkdownWriter::new(out, &about, outline)?)),
            ExportFormat::Html => Self::Html(Box::new(HtmlWriter::new(out, &about, outline)?)),
        })
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Jsonl(writer) => writer.event(event),
            Self::Markdown(writer) => writer.event(event),
            Self::Html(writer) => writer.event(event),
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Self::Jsonl(writer) => writer.finish(),
            Self::Markdown(writer) => writer.finish(),
            Self::Html(writer) => writer.finish(),
        }
    }
}

/// Lines of JSON as a terminal may see them.
struct Shown<W>(W);

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match bytes {
            b"\n" => self.0.write_all(bytes)?,
            bytes => self.0.write_all(visible::json(&String::from_utf8_lossy(bytes)).as_bytes())?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
