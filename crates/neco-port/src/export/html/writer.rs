//! The whole: head, contents, what happened, foot.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use jiff::Timestamp;
use neco_proto::clean::clean_line;
use neco_proto::event::AgentNode;
use neco_proto::{AgentId, Event, EventBody, Message, Seq};

use neco_view::paint::html::page::Page;
use neco_view::paint::html::style;

use super::{asides, card, said};
use crate::export::facts::{facts, title};
use crate::export::tale::{Block, Teller, Told};
use crate::export::{About, Outline, figures};

/// Writes a session as HTML.
#[derive(Debug)]
pub struct HtmlWriter<W> {
    page: Page<W>,
    outline: Outline,
    teller: Teller,
    /// Whose words stand above, so that a name is written once.
    speaker: Option<(Option<AgentId>, String)>,
    day: Option<jiff::civil::Date>,
    number: u64,
    /// Where the stretch ends that is being written and was taken back.
    gone_until: Option<Seq>,
    /// The agent that is being written.
    part: Option<AgentId>,
}

impl<W: Write> HtmlWriter<W> {
    /// Writes the head to `out`; `outline` has read every event that will come.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(out: W, about: &About, outline: Outline) -> io::Result<Self> {
        let mut page = Page::new(out);
        head(&mut page, about, &outline)?;
        Ok(Self {
            page,
            outline,
            teller: Teller::default(),
            speaker: None,
            day: None,
            number: 0,
            gone_until: None,
            part: None,
        })
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
        foot(&mut self.page, &self.outline)?;
        self.page.finish()
    }

    /// What an agent below the root did is told after everything else: its heading. What it did follows, event by
    /// event.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn agent(&mut self, node: &AgentNode) -> io::Result<()> {
        self.end_part()?;
        if self.outline.agents.first().is_some_and(|first| first.id == node.id) {
            self.page.tag("<h2 class=\"agents\" id=\"agents\">Agents</h2>\n")?;
        }
        let facts: Vec<String> =
            [Some(node.state.to_string()), figures::used(&node.usage)].into_iter().flatten().collect();
        self.page.element("<details class=\"agent\" id=\"a", &node.id.to_string(), "\"><summary>")?;
        self.page.element("<span class=\"name\">", &node.name, "</span>")?;
        self.page.element("<span class=\"task\" dir=\"auto\">", &clean_line(&node.task), "</span>")?;
        self.page.element("<span class=\"facts\">", &facts.join(" · "), "</span></summary>\n")?;
        self.day = None;
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
            self.page.tag("</details>\n")?;
        }
        match self.part.take() {
            Some(_) => self.page.tag("</details>\n"),
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
            self.page.tag("</details>\n")?;
        }
        let range: Option<RangeInclusive<Seq>> =
            self.outline.taken_back().iter().find(|range| range.contains(&seq)).cloned();
        // Where nothing was asked there is nothing to fold away: a rewind that was taken back at once.
        let asked = range.as_ref().map_or(0, |range| self.outline.asked_within(range));
        if let Some(range) = range.filter(|_| self.gone_until.is_none() && asked > 0) {
            let messages = figures::count(asked, "message");
            self.page.element(
                "<details class=\"undone\"><summary>Taken back by a rewind · ",
                &messages,
                "</summary>\n",
            )?;
            self.gone_until = Some(*range.end());
            self.speaker = None;
        }
        Ok(())
    }

    fn told(&mut self, told: &Told<'_>) -> io::Result<()> {
        self.new_day(told.at)?;
        let page = &mut self.page;
        match &told.block {
            Block::Person(message) if told.agent.is_none() && self.part.is_none() => {
                self.number += 1;
                self.speaker = None;
                said::person(page, told.seq, self.number, told.at, message)
            }
            Block::Model(message) => self.model(told, message),
            Block::Person(message) | Block::Neco(message) => said::neco(page, message),
            Block::Unfinished(text) => said::unfinished(page, text),
            Block::Call(call) => card::card(page, call),
            Block::Question(question) => asides::question(page, question),
            Block::Answer(reply) => asides::answer(page, *reply),
            Block::Todos(update) => asides::todos(page, update, self.outline.last_todos == Some(told.seq)),
            Block::Plan(update) => asides::plan(page, update),
            Block::Compaction(compaction) => asides::compaction(page, compaction),
            Block::Note(level, text) => asides::note(page, *level, text),
            Block::Agent(agent, text) => asides::agent(page, *agent, text),
            Block::Error(error) => asides::error(page, error),
            Block::Complete(complete) => asides::complete(page, complete),
        }
    }

    fn model(&mut self, told: &Told<'_>, message: &Message) -> io::Result<()> {
        let name = message.model.clone().unwrap_or_else(|| "Model".to_owned());
        let speaker = (told.agent, name);
        let is_new = self.speaker.as_ref() != Some(&speaker);
        let by = match (&speaker, is_new) {
            (_, false) => None,
            ((None, name), true) => Some(name.clone()),
            ((Some(agent), name), true) => Some(format!("{name} · agent {agent}")),
        };
        said::model(&mut self.page, told.at, by.as_deref(), message)?;
        self.speaker = Some(speaker);
        Ok(())
    }

    fn new_day(&mut self, at: Timestamp) -> io::Result<()> {
        let day = at.to_zoned(jiff::tz::TimeZone::UTC).date();
        let is_first = self.day.is_none();
        if self.day.replace(day) == Some(day) || is_first || at == Timestamp::UNIX_EPOCH {
            return Ok(());
        }
        self.page.element("<div class=\"day\">", &day.to_string(), "</div>\n")
    }
}

fn head<W: Write>(page: &mut Page<W>, about: &About, outline: &Outline) -> io::Result<()> {
    let title = title(about, outline);
    page.tag("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")?;
    page.element("<meta http-equiv=\"Content-Security-Policy\" content=\"", &style::policy(), "\">\n")?;
    page.tag("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")?;
    page.tag("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"robots\" content=\"noindex\">\n")?;
    page.tag("<meta name=\"color-scheme\" content=\"light dark\">\n")?;
    page.element("<title>", &title, "</title>\n")?;
    page.tag(style::STYLE)?;
    page.tag("\n</head>\n<body>\n")?;
    page.tag(if outline.asked.len() > 1 { "<div class=\"page\">\n" } else { "<div class=\"page alone\">\n" })?;
    page.element("<header class=\"about\"><h1 dir=\"auto\">", &title, "</h1><dl>")?;
    for (name, value) in facts(about, outline) {
        page.element("<dt>", name, "</dt>")?;
        page.element("<dd>", &value, "</dd>")?;
    }
    page.tag("</dl></header>\n")?;
    contents(page, outline)?;
    page.tag("<main class=\"log\">\n")
}

fn contents<W: Write>(page: &mut Page<W>, outline: &Outline) -> io::Result<()> {
    if outline.asked.len() < 2 {
        return Ok(());
    }
    page.tag("<nav class=\"contents\"><details open><summary>What was asked</summary><ol>\n")?;
    for (asked, number) in outline.asked.iter().zip(1..) {
        page.tag("<li><a href=\"#e")?;
        page.number(asked.seq)?;
        page.tag("\"><span>")?;
        page.number(number)?;
        page.tag("</span>")?;
        let begin = match outline.is_taken_back(asked.seq) {
            true => "<span class=\"gone\" dir=\"auto\">",
            false => "<span dir=\"auto\">",
        };
        let text = if asked.text.is_empty() { "(a picture)" } else { &asked.text };
        page.element(begin, text, "</span></a></li>\n")?;
    }
    if !outline.agents.is_empty() {
        let agents = figures::count(outline.agents.len() as u64, "agent");
        page.element("<li><a href=\"#agents\"><span>⤷</span><span>", &agents, "</span></a></li>\n")?;
    }
    page.tag("</ol></details></nav>\n")
}

fn foot<W: Write>(page: &mut Page<W>, outline: &Outline) -> io::Result<()> {
    page.tag("</main>\n<footer class=\"foot\">")?;
    if outline.models.len() > 1 {
        page.tag("<div class=\"wide\"><table><tr><th>Model</th><th>Used</th><th>Cost</th></tr>")?;
        for (model, usage) in &outline.models {
            page.element("<tr><td>", model, "</td>")?;
            page.element("<td>", &figures::used(usage).unwrap_or_default(), "</td>")?;
            page.element("<td>", &figures::cost(usage).unwrap_or_default(), "</td></tr>")?;
        }
        page.tag("</table></div>")?;
    }
    page.tag("Exported by Neco. Times are in UTC.</footer>\n</div>\n</body>\n</html>\n")
}
