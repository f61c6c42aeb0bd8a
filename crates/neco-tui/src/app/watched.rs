//! One of the other agents, opened: what it says and what it runs, as it happens.

use std::collections::VecDeque;

use neco_proto::{AgentId, Event, Seq};
use ratatui::text::Line;

use crate::transcript::Transcript;
use crate::transcript::block::Drawn;

/// Rows that can be scrolled back to.
const KEPT: usize = 4000;

/// An agent that is looked at.
#[derive(Debug)]
pub struct Watched {
    /// Who.
    pub agent: AgentId,
    transcript: Transcript,
    rows: VecDeque<Line<'static>>,
    /// Rows between the end and what is shown.
    back: usize,
    /// What happened since it was opened, until it is known what happened before.
    since: Option<Vec<Event>>,
}

impl Watched {
    /// Nothing is known yet of what it did.
    #[must_use]
    pub fn new(agent: AgentId) -> Self {
        Self { agent, transcript: Transcript::default(), rows: VecDeque::new(), back: 0, since: Some(Vec::new()) }
    }

    /// What happened to it up to `last`; `works` when it is not done.
    pub fn catch_up(&mut self, past: &[Event], last: Seq, works: bool) {
        let Some(since) = self.since.take() else { return };
        past.iter().for_each(|event| self.transcript.past(event));
        self.transcript.caught_up(works);
        since.iter().filter(|event| event.seq > last).for_each(|event| self.transcript.apply(event));
    }

    /// Something happened to it.
    pub fn apply(&mut self, event: &Event) {
        match &mut self.since {
            Some(since) => since.push(event.clone()),
            None => self.transcript.apply(event),
        }
    }

    /// So many rows back, or towards the end.
    pub fn scroll(&mut self, by: isize) {
        self.back = self.back.saturating_add_signed(by).min(KEPT);
    }

    /// The rows that have room, and how many there are below them.
    pub fn rows(&mut self, with: Drawn<'_>, room: usize) -> (Vec<Line<'static>>, usize) {
        let all = self.all(with);
        self.back = self.back.min(all.len().saturating_sub(room));
        let end = all.len() - self.back;
        let rows = all.into_iter().take(end).skip(end.saturating_sub(room)).collect();
        (rows, self.back)
    }

    /// Everything that is kept of it.
    pub fn all(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        self.rows.extend(self.transcript.leave(with));
        let beyond = self.rows.len().saturating_sub(KEPT);
        self.rows.drain(..beyond);
        self.rows.iter().cloned().chain(self.transcript.live(with)).collect()
    }
}
