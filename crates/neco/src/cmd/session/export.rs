//! `neco session export`: a session as a file.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use neco_proto::event::AgentNode;
use neco_proto::visible;
use neco_proto::{Event, EventBody};
use neco_safety::secrets::{Redactor, Scope};
use neco_session::redacted::redact;
use neco_store::export::jsonl::Output;
use neco_store::export::{About, Header, HtmlWriter, JsonlWriter, MarkdownWriter, Outline};
use neco_store::{Catalog, SessionRecord};

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::port_args::{ExportArgs, ExportFormat};
use crate::print::figures::count;
use crate::say;

/// Bytes of an output that go into a file with it.
const MOST_OUTPUT: u64 = 64 * 1024 * 1024;

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
    let record = match &args.id {
        Some(id) => desk.hub.find(id).await?,
        None => desk.hub.latest(&crate::folder(desk.everywhere)?).await?.record,
    };
    // As everywhere, a dash is no file.
    let file = args.output.as_deref().filter(|file| *file != Path::new("-"));
    let format = format_of(args.format, file)?;
    let mut folders = vec![desk.hub.outputs(record.id)];
    folders.extend(desk.store().ancestors(record.id).await?.into_iter().map(|session| desk.hub.outputs(session)));
    let redactor = (!args.no_redact).then(|| desk.redactor());
    let export = Export { record: &record, redactor, desk, folders };
    match file {
        None => export.to_stdout(format).await.map(|()| None),
        Some(file) => {
            export.to_file(format, file, args.force).await?;
            let events = count(record.events, "event");
            Ok(Some(format!("exported {events} of session {} to {}\n", record.id, desk.env.shown(file))))
        }
    }
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

struct Export<'a> {
    record: &'a SessionRecord,
    redactor: Option<Redactor>,
    desk: &'a Desk<'a>,
    /// Where big outputs of its calls lie.
    folders: Vec<PathBuf>,
}

impl Export<'_> {
    /// A file that is whole or not there, readable by its owner alone.
    async fn to_file(&self, format: ExportFormat, file: &Path, force: bool) -> Result<(), Failure> {
        let cannot = |error: &io::Error| {
            Failure::new(Exit::Failed, format!("{} can't be written: {error}", self.desk.env.shown(file)))
        };
        if file.is_dir() {
            let words = format!("{} is a folder", self.desk.env.shown(file));
            return Err(Failure::usage(words).hint("Name a file in it."));
        }
        if !force && file.symlink_metadata().is_ok() {
            let words = format!("{} is there already", self.desk.env.shown(file));
            return Err(Failure::usage(words).hint("--force writes over it."));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::usage(format!("there is no folder {}", self.desk.env.shown(folder))));
        }
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
        let agents = outline.agents.clone();
        let mut writer = match Writer::new(format, out, self.about(), self.record.events, outline) {
            Ok(writer) => writer,
            Err(error) => return Ok(Err(error)),
        };
        let mut written = self.each(|event| self.write_event(&mut writer, event)).await?;
        for agent in &agents {
            written = match written.and_then(|()| writer.agent(agent)) {
                Ok(()) => self.each(|event| writer.event(event)).await?,
                Err(error) => Err(error),
            };
        }
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

    fn write_event<W: Write>(&self, writer: &mut Writer<W>, event: &Event) -> io::Result<()> {
        if let Writer::Jsonl(lines) = writer
            && let Some(output) = self.output_of(event)
        {
            lines.output(output)?;
        }
        writer.event(event)
    }

    /// All of what a call gave, where that was too big for the model. Only what lies with the session is taken: the
    /// log may come from a file that anybody wrote.
    fn output_of(&self, event: &Event) -> Option<Output> {
        let EventBody::ToolCallEnd(end) = &event.body else { return None };
        let file = Path::new(end.spilled_to.as_ref()?);
        if !file.parent().is_some_and(|folder| self.folders.iter().any(|own| own == folder)) {
            return None;
        }
        let facts = file.symlink_metadata().ok().filter(|facts| facts.is_file() && facts.len() <= MOST_OUTPUT);
        let bytes = facts.and_then(|_| std::fs::read(file).ok())?;
        let redacted = match (&self.redactor, String::from_utf8(bytes)) {
            (Some(redactor), Ok(text)) => redactor.redact(&text, Scope::Said).into_owned().into_bytes(),
            (None, Ok(text)) => text.into_bytes(),
            (_, Err(error)) => error.into_bytes(),
        };
        Some(Output::new(end.call_id.clone(), redacted))
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

    /// What an agent did follows.
    fn agent(&mut self, agent: &AgentNode) -> io::Result<()> {
        match self {
            // Its events are where they happened.
            Self::Jsonl(_) => Ok(()),
            Self::Markdown(writer) => writer.agent(agent),
            Self::Html(writer) => writer.agent(agent),
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
