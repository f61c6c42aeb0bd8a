//! One of the other agents, opened: what it says and what it runs, as it happens.

use std::collections::VecDeque;

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentMessage, Down, Letter};
use neco_proto::{Actor, AgentId, Event, EventBody, MessageId, Seq};
use neco_view::reduce::block::Context;
use ratatui::text::{Line, Span};

use crate::transcript::Transcript;
use crate::transcript::block::Drawn;
use crate::transcript::ledger;

/// Rows that can be scrolled back to.
const KEPT: usize = 4000;

/// An agent that is looked at.
#[derive(Debug)]
pub struct Watched {
    pub agent: AgentId,
    /// The question that waited when the person opened it, and waits behind it.
    pub over: Option<u64>,
    transcript: Transcript,
    /// What can't change any more, as it was drawn for this width.
    rows: VecDeque<Line<'static>>,
    width: usize,
    /// What that is drawn from, for another width: what happened before it was opened, whether it worked then, and what
    /// happened since.
    past: Vec<Event>,
    worked: bool,
    heard: Vec<Event>,
    /// What the person told it and it has not read, oldest first.
    unread: Vec<(MessageId, String)>,
    /// Rows between the end and what is shown.
    back: usize,
    /// What happened since it was opened, until it is known what happened before.
    since: Option<Vec<Event>>,
}

impl Watched {
    /// Nothing is known yet of what it did; `over` is the question that waits behind it.
    pub fn new(agent: AgentId, over: Option<u64>) -> Self {
        Self {
            agent,
            over,
            transcript: Transcript::of(agent),
            rows: VecDeque::new(),
            width: 0,
            past: Vec::new(),
            worked: false,
            heard: Vec::new(),
            unread: Vec::new(),
            back: 0,
            since: Some(Vec::new()),
        }
    }

    /// What happened to it up to `last`; `works` when it is not done.
    pub fn catch_up(&mut self, past: Vec<Event>, last: Seq, works: bool) {
        let Some(since) = self.since.take() else { return };
        past.iter().for_each(|event| self.letter(event));
        if !works {
            self.unread.clear();
        }
        (self.past, self.worked) = (past, works);
        self.tell_past();
        since.iter().filter(|event| event.seq > last).for_each(|event| self.happened(event));
    }

    /// Something happened to it.
    pub fn apply(&mut self, event: &Event) {
        match &mut self.since {
            Some(since) => since.push(event.clone()),
            None => self.happened(event),
        }
    }

    fn tell_past(&mut self) {
        for event in &self.past {
            match is_of_others(&event.body) {
                true => self.transcript.view.note(event),
                false => self.transcript.past(event),
            }
        }
        self.transcript.caught_up(self.worked);
    }

    fn happened(&mut self, event: &Event) {
        if !is_of_others(&event.body) {
            self.transcript.apply(event);
            // A whole message stands for the pieces it came in.
            if matches!(event.body, EventBody::Message(_)) {
                self.heard.retain(|before| !is_piece(&before.body));
            }
            self.heard.push(event.clone());
        }
        self.letter(event);
    }

    /// What the person tells it waits until it is in its conversation. The answer to a question never is: the call that
    /// asked gives it.
    fn letter(&mut self, event: &Event) {
        match &event.body {
            EventBody::AgentMessage(AgentMessage {
                from: Actor::Person,
                letter: Letter::Down(Down::Task { text } | Down::Redirect { text }),
                message_id,
                ..
            }) => self.unread.push((*message_id, text.clone())),
            EventBody::Message(message) => self.unread.retain(|(id, _)| *id != message.id),
            EventBody::AgentUpdate(update) if !update.node.state.is_live() => self.unread.clear(),
            _ => {}
        }
    }

    fn unread_rows(&self, with: Drawn<'_>) -> impl Iterator<Item = Line<'static>> {
        self.unread.iter().map(move |(_, text)| {
            let head = ledger::head(Span::styled("⋯", with.theme.dim), "Next", with.theme.dim);
            let when = vec![Span::styled(" · next turn", with.theme.dim)];
            ledger::row(head, vec![Span::raw(clean_line(text))], when, with.width)
        })
    }

    /// How full its context is, once that is known.
    pub fn context(&self) -> Option<Context> {
        self.transcript.view.standing.context
    }

    /// So many rows back, or towards the end.
    pub fn scroll(&mut self, by: isize) {
        self.back = self.back.saturating_add_signed(by).min(KEPT);
    }

    /// The rows that have room, and how many there are below them; only those are copied, however many are kept.
    pub fn rows(&mut self, with: Drawn<'_>, room: usize) -> (Vec<Line<'static>>, usize) {
        let mut live = self.live(with);
        live.extend(self.unread_rows(with));
        let count = self.rows.len() + live.len();
        self.back = self.back.min(count.saturating_sub(room));
        let end = count - self.back;
        let rows = self.rows.iter().chain(&live).take(end).skip(end.saturating_sub(room)).cloned().collect();
        (rows, self.back)
    }

    /// Everything that is kept of it.
    pub fn all(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let live = self.live(with);
        self.rows.iter().cloned().chain(live).collect()
    }

    /// Keeps what can't change any more; gives the rows of what still can.
    fn live(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let was_drawn = !self.rows.is_empty();
        if std::mem::replace(&mut self.width, with.width) != with.width && was_drawn {
            self.begin_anew();
        }
        self.rows.extend(self.transcript.leave(with));
        let beyond = self.rows.len().saturating_sub(KEPT);
        self.rows.drain(..beyond);
        self.transcript.live(with)
    }

    /// Nothing of it is drawn yet.
    fn begin_anew(&mut self) {
        self.rows.clear();
        self.transcript = Transcript::of(self.agent);
        self.tell_past();
        self.heard.iter().for_each(|event| self.transcript.apply(event));
    }
}

/// Whether it tells of those below it, who are seen in the list.
fn is_of_others(body: &EventBody) -> bool {
    matches!(body, EventBody::AgentUpdate(_) | EventBody::AgentMessage(_) | EventBody::WorkflowUpdate(_))
}

/// Whether it is a part of a message that comes as a whole later. Thoughts come only in pieces.
fn is_piece(body: &EventBody) -> bool {
    matches!(body, EventBody::StreamChunk(_) | EventBody::StreamToolCallStart(_) | EventBody::StreamToolCallDelta(_))
}
