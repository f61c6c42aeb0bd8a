//! A session of the store, written to a file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_proto::app::port::ExportFormat;
use neco_proto::event::AgentNode;
use neco_proto::{Event, EventBody};
use neco_safety::secrets::{Redactor, Scope};
use neco_session::Hub;
use neco_session::redacted::redact;
use neco_store::{Catalog, SessionRecord};

use super::jsonl::Output;
use super::{About, Header, HtmlWriter, JsonlWriter, MarkdownWriter, Outline, YamlWriter};
use crate::error::PortError;

/// Bytes of an output that go into a file with it.
const MOST_OUTPUT: u64 = 64 * 1024 * 1024;

/// A session that is to be written.
pub struct Export<'a> {
    record: &'a SessionRecord,
    redactor: Option<Redactor>,
    hub: &'a Hub,
    /// Where big outputs of its calls lie.
    folders: Vec<PathBuf>,
}

impl<'a> Export<'a> {
    /// Looks for what lies beside a session. Without a redactor it is written as it is in the log.
    /// Fails when the store can't be read.
    pub async fn of(
        record: &'a SessionRecord,
        redactor: Option<Redactor>,
        hub: &'a Hub,
        catalog: &dyn Catalog,
    ) -> Result<Self, PortError> {
        let mut folders = vec![hub.outputs(record.id)];
        folders.extend(catalog.ancestors(record.id).await?.into_iter().map(|session| hub.outputs(session)));
        Ok(Self { record, redactor, hub, folders })
    }

    /// Writes a file that is whole or not there, readable by its owner alone.
    /// Fails when it is there and is not to be written over, or can't be written.
    pub async fn to_file(&self, format: ExportFormat, file: &Path, over: bool, env: &Env) -> Result<(), PortError> {
        let cannot = |error: io::Error| PortError::NotWritten(env.shown(file), error);
        if file.is_dir() {
            return Err(PortError::IntoFolder(env.shown(file)));
        }
        if !over && file.symlink_metadata().is_ok() {
            return Err(PortError::There(env.shown(file)));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(PortError::NoFolder(env.shown(folder)));
        }
        let begun = tempfile::NamedTempFile::new_in(folder).map_err(cannot)?;
        let written = self.write(format, BufWriter::new(begun)).await?.map_err(cannot)?;
        let whole = written.into_inner().map_err(|error| cannot(error.into_error()))?;
        let kept = if over { whole.persist(file) } else { whole.persist_noclobber(file) };
        kept.map(drop).map_err(|error| cannot(error.error))
    }

    /// Event by event: a long session is never in memory as a whole. What is to be read is gone through
    /// twice, to know what lies ahead.
    async fn write<W: Write>(&self, format: ExportFormat, out: W) -> Result<io::Result<W>, PortError> {
        let mut outline = Outline::default();
        match format {
            ExportFormat::Jsonl | ExportFormat::Yaml => {}
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

    async fn each(&self, mut take: impl FnMut(&Event) -> io::Result<()>) -> Result<io::Result<()>, PortError> {
        let mut written = Ok(());
        self.hub
            .each_event(self.record.id, |event| {
                if written.is_err() {
                    return;
                }
                written = match &self.redactor {
                    None => take(event),
                    Some(redactor) => {
                        let mut event = event.clone();
                        redact(&mut event, redactor);
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
    Yaml(YamlWriter<W>),
    Markdown(Box<MarkdownWriter<W>>),
    Html(Box<HtmlWriter<W>>),
}

impl<W: Write> Writer<W> {
    fn new(format: ExportFormat, out: W, about: About, events: u64, outline: Outline) -> io::Result<Self> {
        Ok(match format {
            ExportFormat::Jsonl => Self::Jsonl(JsonlWriter::new(out, &Header::new(about, events))?),
            ExportFormat::Yaml => Self::Yaml(YamlWriter::new(out, &Header::new(about, events))?),
            ExportFormat::Markdown => Self::Markdown(Box::new(MarkdownWriter::new(out, &about, outline)?)),
            ExportFormat::Html => Self::Html(Box::new(HtmlWriter::new(out, &about, outline)?)),
        })
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Jsonl(writer) => writer.event(event),
            Self::Yaml(writer) => writer.event(event),
            Self::Markdown(writer) => writer.event(event),
            Self::Html(writer) => writer.event(event),
        }
    }

    /// What an agent did follows.
    fn agent(&mut self, agent: &AgentNode) -> io::Result<()> {
        match self {
            // Its events are where they happened.
            Self::Jsonl(_) | Self::Yaml(_) => Ok(()),
            Self::Markdown(writer) => writer.agent(agent),
            Self::Html(writer) => writer.agent(agent),
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Self::Jsonl(writer) => writer.finish(),
            Self::Yaml(writer) => writer.finish(),
            Self::Markdown(writer) => writer.finish(),
            Self::Html(writer) => writer.finish(),
        }
    }
}
