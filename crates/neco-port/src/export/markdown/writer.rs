//! The whole: what the session is, what happened, what it cost.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use neco_proto::event::{AgentNode, NotificationLevel};
use neco_proto::{AgentId, Event, EventBody, Message, Part, Seq};

use super::{asides, card};
use crate::export::facts::{answered, facts, title};
use crate::export::tale::{Block, Teller, Told};
use crate::export::{About, Outline, figures, one_line};
use neco_view::paint::markdown::text::{in_tag, inline, prose, quoted};

/// Writes a session as markdown.
#[derive(Debug)]
pub struct MarkdownWriter<W> {
    out: W,
    outline: Outline,
    teller: Teller,
    number: u64,
    /// Whose words stand above, so that a name is written once.
    speaker: Option<String>,
    /// Where the stretch ends that is being written and was taken back.
    gone_until: Option<Seq>,
    /// The agent that is being written.
    part: Option<AgentId>,
}

impl<W: Write> MarkdownWriter<W> {
    /// Writes the heading to `out`; `outline` has read every event that will come.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(mut out: W, about: &About, outline: Outline) -> io::Result<Self> {
        writeln!(out, "# {}\n\n| | |\n|---|---|", inline(&title(about, &outline)))?;
        for (name, value) in facts(about, &outline) {
            writeln!(out, "| {name} | {} |", inline(&value))?;
        }
        writeln!(out)?;
        Ok(Self { out, outline, teller: Teller::default(), number: 0, speaker: None, gone_until: None, part: None })
    }

    /// Writes the next event.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        if event.seq > self.outline.last || !self.is_here(event) {
            return Ok(());
        }
        self.stretch(event.seq)?;
        let told = self.teller.tell(event);
        told.iter().try_for_each(|told| self.told(told))
    }

    /// Writes what is left and gives `out` back.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_part()?;
        writeln!(self.out, "---\n\n<sub>Exported by Neco. Times are in UTC.</sub>")?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// What an agent below the root did is told after everything else: its heading. What it did follows, event by
    /// event.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn agent(&mut self, node: &AgentNode) -> io::Result<()> {
        self.end_part()?;
        if self.outline.agents.first().is_some_and(|first| first.id == node.id) {
            writeln!(self.out, "## Agents\n")?;
        }
        let parts: Vec<String> = [Some(node.name.clone()), Some(node.state.to_string()), figures::used(&node.usage)]
            .into_iter()
            .flatten()
            .collect();
        writeln!(self.out, "<details><summary>{}</summary>\n", in_tag(&parts.join(" · ")))?;
        self.teller = Teller::of(node.id);
        self.part = Some(node.id);
        Ok(())
    }

    /// Ends what is being written: the session itself, or an agent.
    fn end_part(&mut self) -> io::Result<()> {
        let left = self.teller.end();
        left.iter().try_for_each(|told| self.told(told))?;
        self.speaker = None;
        if self.gone_until.take().is_some() {
            writeln!(self.out, "</details>\n")?;
        }
        match self.part.take() {
            Some(_) => writeln!(self.out, "</details>\n"),
            None => Ok(()),
        }
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
        if self.gone_until.is_some_and(|until| seq > until) {
            self.gone_until = None;
            self.speaker = None;
            writeln!(self.out, "</details>\n")?;
        }
        let range: Option<RangeInclusive<Seq>> =
            self.outline.taken_back().iter().find(|range| range.contains(&seq)).cloned();
        // Where nothing was asked there is nothing to fold away: a rewind that was taken back at once.
        let asked = range.as_ref().map_or(0, |range| self.outline.asked_within(range));
        if let Some(range) = range.filter(|_| self.gone_until.is_none() && asked > 0) {
            let messages = figures::count(asked, "message");
            writeln!(self.out, "<details><summary>Taken back by a rewind · {messages}</summary>\n")?;
            self.gone_until = Some(*range.end());
            self.speaker = None;
        }
        Ok(())
    }

    fn told(&mut self, told: &Told<'_>) -> io::Result<()> {
        let out = &mut self.out;
        match &told.block {
            Block::Person(message) if self.part.is_some() => writeln!(out, "{}", quoted(&message.text())),
            Block::Person(message) if told.agent.is_none() => self.person(told, message),
            Block::Model(message) => self.model(told, message),
            Block::Person(message) | Block::Neco(message) => note(out, NotificationLevel::Info, &message.text()),
            Block::Unfinished(text) => writeln!(out, "{}\n\n**Not finished.**\n", prose(text)),
            Block::Call(call) => card::card(out, call),
            Block::Question(question) => asides::question(out, question),
            Block::Answer(reply) => writeln!(out, "**You:** {}\n", inline(&answered(*reply))),
            Block::Todos(update) if self.outline.last_todos == Some(told.seq) => asides::todos(out, update),
            Block::Todos(_) => Ok(()),
            Block::Plan(update) => asides::plan(out, update),
            Block::Compaction(compaction) => {
                let summary = compaction.summary.as_ref().map(Message::text).unwrap_or_default();
                match summary.trim() {
                    "" => note(out, NotificationLevel::Info, &one_line::compaction(compaction)),
                    summary => asides::folded(out, &one_line::compaction(compaction), summary),
                }
            }
            Block::Note(level, text) => note(out, *level, text),
            Block::Agent(_, text) => note(out, NotificationLevel::Info, text),
            Block::Error(error) => writeln!(out, "**Error {}:** {}\n", error.code, inline(&error.message)),
            Block::Complete(complete) => asides::complete(out, complete),
        }
    }

    fn person(&mut self, told: &Told<'_>, message: &Message) -> io::Result<()> {
        self.number += 1;
        self.speaker = None;
        writeln!(self.out, "## {} · You <sub>{}</sub>\n", self.number, figures::minute(told.at))?;
        writeln!(self.out, "{}", quoted(&message.text()))?;
        let is_picture = |part: &&Part| matches!(part, Part::Image { .. });
        match message.parts.iter().filter(is_picture).count() as u64 {
            0 => Ok(()),
            pictures => writeln!(self.out, "*with {}*\n", figures::count(pictures, "picture")),
        }
    }

    fn model(&mut self, told: &Told<'_>, message: &Message) -> io::Result<()> {
        let model = message.model.as_deref().unwrap_or("Model");
        let name = match told.agent {
            None => model.to_owned(),
            Some(agent) => format!("{model} · agent {agent}"),
        };
        if self.speaker.as_ref() != Some(&name) {
            writeln!(self.out, "**{}**\n", inline(&name))?;
            self.speaker = Some(name);
        }
        for part in &message.parts {
            match part {
                Part::Text { text } if !text.trim().is_empty() => writeln!(self.out, "{}\n", prose(text))?,
                Part::Reasoning { text, .. } if !text.trim().is_empty() => {
                    asides::folded(&mut self.out, "Thoughts", text)?;
                }
                Part::Text { .. }
                | Part::Reasoning { .. }
                | Part::Image { .. }
                | Part::ToolCall(_)
                | Part::ToolResult(_) => {}
            }
        }
        Ok(())
    }
}

fn note(out: &mut impl Write, level: NotificationLevel, text: &str) -> io::Result<()> {
    let mark = match level {
        NotificationLevel::Info => "",
        NotificationLevel::Warning => "⚠ ",
    };
    match inline(text).as_str() {
        "" => Ok(()),
        text => writeln!(out, "*{mark}{text}*\n"),
    }
}
