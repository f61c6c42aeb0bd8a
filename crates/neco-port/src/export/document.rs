//! A session as a document for readers: what happened block by block, then what each agent below the root did.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use neco_proto::event::{AgentNode, NotificationLevel};
use neco_proto::{AgentId, Event, EventBody, Role, Seq};
use neco_view::paint::document::{DocumentPainter, Head};
use neco_view::paint::{Html, Markdown};
use neco_view::reduce::{Outline, Reader};
use neco_view::wording::notices;

use super::About;

/// Writes a session as markdown.
pub type MarkdownWriter<W> = DocumentWriter<W, Markdown>;

/// Writes a session as HTML.
pub type HtmlWriter<W> = DocumentWriter<W, Html>;

/// Writes a session as its painter paints it, event by event.
#[derive(Debug)]
pub struct DocumentWriter<W, P> {
    out: W,
    painter: P,
    outline: Outline,
    reader: Reader,
    /// The stretches that were taken back.
    gone: Vec<RangeInclusive<Seq>>,
    /// Where the stretch ends that is being written and was taken back.
    gone_until: Option<Seq>,
    /// The agent that is being written.
    part: Option<AgentId>,
}

impl<W: Write, P: DocumentPainter> DocumentWriter<W, P> {
    /// Writes the head to `out`; `outline` has read every event that will come.
    /// Fails when `out` can't be written.
    pub fn new(out: W, about: &About, outline: Outline) -> io::Result<Self> {
        let mut painter = P::default();
        let head = painter.head(&Head { id: about.id, title: &about.title, cwd: &about.cwd, outline: &outline });
        // Where nothing was asked there is nothing to fold away: a rewind that was taken back at once.
        let gone = outline.taken_back().into_iter().filter(|range| outline.asked_within(range) > 0).collect();
        let mut begun = Self { out, painter, outline, reader: Reader::default(), gone, gone_until: None, part: None };
        begun.write(&head)?;
        Ok(begun)
    }

    /// Writes the next event.
    /// Fails when it can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        if event.seq > self.outline.last || !self.is_here(event) {
            return Ok(());
        }
        self.stretch(event.seq)?;
        let mut text: String = self.reader.read(event).iter().map(|seen| self.painter.block(seen)).collect();
        text.push_str(&self.beside(event));
        self.write(&text)
    }

    /// What an agent below the root did is told after everything else: its heading. What it did follows, event by
    /// event.
    /// Fails when it can't be written.
    pub fn agent(&mut self, node: &AgentNode) -> io::Result<()> {
        self.end_part()?;
        let is_first = self.outline.agents.first().is_some_and(|first| first.id == node.id);
        (self.reader, self.part) = (Reader::of(node.id), Some(node.id));
        let heading = self.painter.agent(node, is_first);
        self.write(&heading)
    }

    /// Writes what is left and gives `out` back.
    /// Fails when it can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_part()?;
        let foot = self.painter.foot(&self.outline);
        self.write(&foot)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// What is told of an event that is no block: no window shows it.
    fn beside(&mut self, event: &Event) -> String {
        let line = match &event.body {
            EventBody::Message(message) if message.role == Role::User && message.is_neco() => {
                return self.painter.told(&message.text());
            }
            EventBody::Checkpoint(checkpoint) => notices::checkpoint(checkpoint),
            EventBody::MemoryUpdate(update) => notices::memory(update),
            _ => None,
        };
        line.map(|line| self.painter.note(NotificationLevel::Info, &line)).unwrap_or_default()
    }

    /// Ends what is being written: the session itself, or an agent.
    fn end_part(&mut self) -> io::Result<()> {
        let mut text: String = self.reader.rest().iter().map(|seen| self.painter.block(seen)).collect();
        for _ in self.gone_until.take().map(drop).into_iter().chain(self.part.take().map(drop)) {
            text.push_str(&self.painter.close());
        }
        self.write(&text)
    }

    /// Whether an event belongs to what is being written.
    fn is_here(&self, event: &Event) -> bool {
        let about = matches!(event.body, EventBody::AgentUpdate(_) | EventBody::AgentMessage(_));
        match self.part {
            Some(agent) => event.agent_id == agent && !about,
            None => about || !self.outline.is_below(event.agent_id),
        }
    }

    /// Begins and ends stretches that were taken back.
    fn stretch(&mut self, seq: Seq) -> io::Result<()> {
        let mut text = String::new();
        if self.gone_until.is_some_and(|until| seq > until) {
            self.gone_until = None;
            text.push_str(&self.painter.close());
        }
        if let (None, Some(range)) = (self.gone_until, self.gone.iter().find(|range| range.contains(&seq))) {
            text.push_str(&self.painter.taken_back(self.outline.asked_within(range)));
            self.gone_until = Some(*range.end());
        }
        self.write(&text)
    }
}
