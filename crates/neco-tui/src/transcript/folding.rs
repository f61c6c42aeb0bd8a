//! Folding events into blocks, and letting go of those that are over.

use std::collections::VecDeque;

use neco_proto::event::{Admission, CallStatus, ModelRetry, ModelSwitch, QuestionAnswer, ToolCallEnd, ToolCallUpdate};
use neco_proto::{CallId, Event, EventBody, Message, Question, QuestionId, QuestionItem, Role, Seq, Subject};
use ratatui::text::Line;

use super::block::{Block, Drawn, Kind, Tone, Waiting, fence, note};
use super::card::{Card, Fold};
use super::counting::Counting;
use super::entry::Entry;
use super::notices::{notice, questions_and_answers, rewound};
use crate::text::streaming::Streaming;

/// Calls whose whole output can still be asked for.
const REMEMBERED: usize = 20;

/// Bytes of output that such a call may keep.
const WHOLE: usize = 256 * 1024;

/// What stands above what no longer counts.
const NO_LONGER: &str = "from here on it no longer counts";

/// Blocks of before the window opened that are shown.
const SHOWN: usize = 60;

/// What happened and has not yet left.
#[derive(Debug, Default)]
pub struct Transcript {
    /// What leaves before anything else: what the window itself has to show.
    printed: Vec<Printed>,
    blocks: VecDeque<Entry>,
    /// What left last, for the blank row between it and the next.
    above: Option<Kind>,
    waiting: Vec<Waiting>,
    finished: VecDeque<Card>,
    /// What came in the middle of a text and waits for its end.
    deferred: Vec<Block>,
    /// Whether the model's text of this turn came in pieces.
    streamed: bool,
    /// Pieces of before the window opened, until the whole message comes.
    held: String,
    left_out: bool,
    /// Rows of an answer that stay alive while it is being written.
    pub most_alive: Option<usize>,
    /// The event that is being taken in.
    seq: Seq,
    /// What of it counts.
    counting: Counting,
    /// Whether what left last no longer counts.
    left_void: bool,
    /// What was asked and not answered yet.
    asked: Vec<(QuestionId, Vec<QuestionItem>)>,
}

#[derive(Debug)]
enum Printed {
    Note(Tone, String),
    Rows(Vec<Line<'static>>),
}

impl Transcript {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.seq = event.seq;
        let did = self.counting.note(event);
        match &event.body {
            EventBody::StreamChunk(chunk) => self.answer(&chunk.text),
            EventBody::ReasoningChunk(chunk) => self.thought(&chunk.text),
            EventBody::StreamToolCallStart(start) => {
                self.end_text();
                self.push(Block::Call(Box::new(Card::new(start.call_id.clone(), &start.name))));
            }
            EventBody::StreamToolCallDelta(delta) => {
                if let Some(card) = self.card(&delta.call_id) {
                    card.written += delta.partial_args.len();
                }
            }
            EventBody::ToolCallUpdate(update) => self.update(update, event.ts.as_millisecond()),
            EventBody::ToolOutputChunk(chunk) => {
                if let Some(card) = self.card(&chunk.call_id) {
                    card.output(&chunk.text);
                }
            }
            EventBody::ToolCallEnd(end) => self.end_call(end),
            EventBody::ModelRetry(ModelRetry { discards: true, .. })
            | EventBody::ModelSwitch(ModelSwitch { discards: true, .. }) => {
                self.discard();
                self.note(&event.body);
            }
            EventBody::MessageQueued(told) if told.when == Admission::Withdrawn => {
                self.waiting.retain(|waiting| waiting.id != told.message.id);
            }
            EventBody::MessageQueued(queued) => self.waiting.push(Waiting {
                id: queued.message.id,
                text: queued.message.text(),
                after_work: queued.when == Admission::AfterWork,
            }),
            EventBody::Message(message) => self.message(message),
            EventBody::AgentComplete(_) => {
                self.end_text();
                self.end_calls();
                self.note(&event.body);
            }
            EventBody::TurnStart(_) => {
                self.end_text();
                self.streamed = false;
            }
            EventBody::Question(question) => self.question(question),
            EventBody::QuestionAnswer(answer) => self.answered(answer),
            EventBody::HookRun(run) => {
                self.waiting.retain(|waiting| Some(waiting.id) != run.message_id);
                self.note(&event.body);
            }
            EventBody::Rewind(rewind) => {
                if rewind.conversation {
                    self.waiting.clear();
                    let effective = self.counting.effective(event.seq);
                    self.blocks.iter_mut().for_each(|entry| entry.set_void(!effective.counts(entry.seq)));
                }
                rewound(rewind, &did).into_iter().for_each(|(tone, text)| self.tell(tone, text));
            }
            body => self.note(body),
        }
    }

    /// Takes in an event of before the window opened. Whole messages stand for the pieces they came in.
    pub fn past(&mut self, event: &Event) {
        match &event.body {
            EventBody::StreamChunk(chunk) => self.held.push_str(&chunk.text),
            // A call comes after the words of its message, which are told as a whole here.
            EventBody::ReasoningChunk(_) | EventBody::StreamToolCallStart(_) | EventBody::StreamToolCallDelta(_) => {}
            // A plan that still waits is shown with its question.
            EventBody::Question(Question { subject: Subject::Plan { .. }, .. }) => {}
            EventBody::TurnStart(_) | EventBody::Message(_) => {
                self.held.clear();
                self.apply(event);
            }
            _ => self.apply(event),
        }
        while self.blocks.len() > SHOWN {
            self.blocks.pop_front();
            self.left_out = true;
        }
    }

    /// Whether more happened before the window opened than is shown.
    #[must_use]
    pub fn leaves_out(&self) -> bool {
        self.left_out
    }

    /// The events of before are all here; what is alive stays so only if the agent is at work.
    pub fn caught_up(&mut self, works: bool) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.answer(&held);
        }
        if !works {
            self.end_text();
            self.blocks.retain(|entry| entry.block.is_over());
        }
    }

    /// A line of the window itself; it stands above everything that is alive.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.printed.push(Printed::Note(tone, text.into()));
    }

    /// A line about what happened, in its place among the rest: not in the middle of a sentence.
    pub fn tell(&mut self, tone: Tone, text: String) {
        let block = Block::Note { tone, text };
        if self.is_writing() {
            self.deferred.push(block);
        } else {
            self.push(block);
        }
    }

    /// Rows of the window itself; they stand above everything that is alive.
    pub fn show(&mut self, rows: Vec<Line<'static>>) {
        self.printed.push(Printed::Rows(rows));
    }

    /// A plan, below all that is over and above what is alive.
    pub fn show_plan(&mut self, plan: &str) {
        let at = self.blocks.iter().position(|entry| !entry.block.is_over()).unwrap_or(self.blocks.len());
        self.blocks.insert(at, Entry::new(Block::Plan { text: plan.to_owned() }, self.seq));
    }

    /// What a call is that has not left.
    #[must_use]
    pub fn summary(&self, call_id: &CallId) -> Option<String> {
        self.calls().find(|card| card.call_id == *call_id).map(|card| card.summary.clone())
    }

    fn calls(&self) -> impl Iterator<Item = &Card> {
        self.blocks.iter().filter_map(|entry| match &entry.block {
            Block::Call(card) => Some(card.as_ref()),
            Block::Said { .. }
            | Block::Thought { .. }
            | Block::Answer { .. }
            | Block::Plan { .. }
            | Block::Note { .. } => None,
        })
    }

    /// What was said and waits.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// Whether a call runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.calls().any(|card| card.status == CallStatus::Executing)
    }

    /// Everything that came of the last call that is over, or of the `back`th before it.
    #[must_use]
    pub fn whole(&self, back: usize, with: Drawn<'_>) -> Option<Vec<Line<'static>>> {
        Some(self.finished.iter().rev().nth(back)?.rows(Fold::Whole, with))
    }

    /// Another session comes: what is alive ends as it is.
    pub fn close(&mut self) {
        self.end_text();
        self.blocks.retain(|entry| entry.block.is_over());
        self.waiting.clear();
        self.asked.clear();
        self.streamed = false;
        self.left_out = false;
    }

    /// Nothing of what is over is known any more.
    pub fn forget(&mut self) {
        self.finished.clear();
        self.counting = Counting::default();
    }

    /// The rows that can leave now: blocks that are over, in order, and of an answer that is still being
    /// written what can't change any more.
    pub fn leave(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        for printed in std::mem::take(&mut self.printed) {
            let (drawn, kind) = match printed {
                Printed::Note(tone, text) => (note(tone, &text, with.width, with.theme), Kind::Step),
                Printed::Rows(rows) => (rows, Kind::Words),
            };
            self.depart(drawn, kind, kind == Kind::Words || self.above == Some(Kind::Words), &mut rows);
        }
        while let Some(mut entry) = self.blocks.pop_front_if(|entry| entry.block.is_over()) {
            let apart = self.above.is_some_and(|above| entry.block.stands_apart(above));
            if entry.void && !std::mem::replace(&mut self.left_void, entry.void) {
                self.depart(fence(NO_LONGER, with.width, with.theme), Kind::Step, true, &mut rows);
            }
            self.left_void = entry.void;
            let drawn = entry.last_rows(with);
            self.depart(drawn, entry.block.kind(), apart, &mut rows);
            self.remember(entry.block);
        }
        self.leave_settled(with, &mut rows);
        rows
    }

    /// The rows of what is alive.
    pub fn live(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let (mut above, mut void) = (self.above, self.left_void);
        for entry in &mut self.blocks {
            if entry.void && !std::mem::replace(&mut void, entry.void) {
                rows.extend(fence(NO_LONGER, with.width, with.theme));
            }
            void = entry.void;
            let apart = above.is_some_and(|above| entry.block.stands_apart(above));
            above = Some(entry.block.kind());
            let drawn = entry.rows(with);
            if !drawn.is_empty() && apart {
                rows.push(Line::default());
            }
            rows.extend(drawn);
        }
        rows
    }

    fn leave_settled(&mut self, with: Drawn<'_>, rows: &mut Vec<Line<'static>>) {
        let Some(Entry { block: Block::Answer { text, begun, over: false }, .. }) = self.blocks.front_mut() else {
            return;
        };
        let mut drawn = text.settle(with.width, with.theme);
        drawn.extend(text.ease(self.most_alive.unwrap_or(usize::MAX), with.width, with.theme));
        let apart = !*begun;
        *begun |= !drawn.is_empty();
        self.depart(drawn, Kind::Words, apart, rows);
    }

    fn depart(&mut self, drawn: Vec<Line<'static>>, kind: Kind, apart: bool, rows: &mut Vec<Line<'static>>) {
        if drawn.is_empty() {
            return;
        }
        if apart && self.above.is_some() {
            rows.push(Line::default());
        }
        rows.extend(drawn);
        self.above = Some(kind);
    }

    fn remember(&mut self, block: Block) {
        let Block::Call(card) = block else { return };
        if card.size() <= WHOLE {
            self.finished.push_back(*card);
        }
        if self.finished.len() > REMEMBERED {
            self.finished.pop_front();
        }
    }

    fn push(&mut self, block: Block) {
        self.blocks.push_back(Entry::new(block, self.seq));
    }

    fn note(&mut self, body: &EventBody) {
        let Some((tone, text)) = notice(body) else { return };
        // What the model says after these is another beginning.
        if matches!(body, EventBody::ModelRetry(_) | EventBody::ModelSwitch(_) | EventBody::Error(_)) {
            self.end_text();
        }
        self.tell(tone, text);
    }

    /// Whether the model is in the middle of a text.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        let open = |entry: &Entry| {
            matches!(entry.block, Block::Answer { over: false, .. } | Block::Thought { over: false, .. })
        };
        self.blocks.back().is_some_and(open)
    }

    fn answer(&mut self, piece: &str) {
        self.streamed = true;
        if let Some(Entry { block: Block::Answer { text, over: false, .. }, .. }) = self.blocks.back_mut() {
            text.push(piece);
            return;
        }
        self.end_text();
        let text = Box::new(Streaming::whole(piece));
        self.push(Block::Answer { text, begun: false, over: false });
    }

    fn thought(&mut self, piece: &str) {
        if let Some(Entry { block: Block::Thought { text, over: false }, .. }) = self.blocks.back_mut() {
            text.push_str(piece);
            return;
        }
        self.end_text();
        self.push(Block::Thought { text: piece.to_owned(), over: false });
    }

    fn end_text(&mut self) {
        for entry in &mut self.blocks {
            if let Block::Answer { over, .. } | Block::Thought { over, .. } = &mut entry.block {
                *over = true;
            }
        }
        for block in std::mem::take(&mut self.deferred) {
            self.push(block);
        }
    }

    /// Nobody will say any more what became of the calls that run.
    pub fn end_calls(&mut self) {
        for entry in &mut self.blocks {
            if let Block::Call(card) = &mut entry.block {
                card.abandon();
            }
        }
    }

    /// What was streamed of this turn is void.
    fn discard(&mut self) {
        self.streamed = false;
        self.blocks.retain(|entry| match &entry.block {
            Block::Answer { over, .. } | Block::Thought { over, .. } => *over,
            Block::Call(card) => card.status != CallStatus::Validating,
            Block::Said { .. } | Block::Plan { .. } | Block::Note { .. } => true,
        });
    }

    fn card(&mut self, call: &CallId) -> Option<&mut Card> {
        self.blocks.iter_mut().rev().find_map(|entry| match &mut entry.block {
            Block::Call(card) if card.call_id == *call => Some(card.as_mut()),
            Block::Call(_)
            | Block::Said { .. }
            | Block::Thought { .. }
            | Block::Answer { .. }
            | Block::Plan { .. }
            | Block::Note { .. } => None,
        })
    }

    fn update(&mut self, update: &ToolCallUpdate, now_ms: i64) {
        if self.card(&update.call_id).is_none() {
            self.end_text();
            self.push(Block::Call(Box::new(Card::new(update.call_id.clone(), &update.tool))));
        }
        let Some(card) = self.card(&update.call_id) else { return };
        card.summary = crate::ask::visible_line(&update.summary);
        card.status = update.status;
        if update.status == CallStatus::Executing {
            card.since_ms = Some(now_ms);
        }
    }

    fn end_call(&mut self, end: &ToolCallEnd) {
        if self.card(&end.call_id).is_none() {
            self.end_text();
            self.push(Block::Call(Box::new(Card::new(end.call_id.clone(), &end.tool))));
        }
        if let Some(card) = self.card(&end.call_id) {
            card.ended(end.clone());
        }
    }

    fn question(&mut self, question: &Question) {
        match &question.subject {
            Subject::Plan { plan } => self.show_plan(plan),
            Subject::Choices { items } => self.asked.push((question.question_id, items.clone())),
            Subject::Loop { .. } => {}
        }
    }

    /// What was asked and what the person said stays on the screen.
    fn answered(&mut self, answer: &QuestionAnswer) {
        let Some(at) = self.asked.iter().position(|(id, _)| *id == answer.question_id) else { return };
        let (_, items) = self.asked.remove(at);
        for text in questions_and_answers(&items, answer.reply.as_ref()) {
            self.tell(Tone::Plain, text);
        }
    }

    fn message(&mut self, message: &Message) {
        self.waiting.retain(|waiting| waiting.id != message.id);
        match message.role {
            Role::User if message.is_neco() => {}
            Role::User => {
                self.end_text();
                self.push(Block::Said { text: message.text() });
            }
            Role::Assistant => {
                self.end_text();
                let text = message.text();
                if !std::mem::replace(&mut self.streamed, false) && !text.trim().is_empty() {
                    self.push(Block::Answer { text: Box::new(Streaming::whole(&text)), begun: false, over: true });
                }
            }
            Role::Tool => {}
        }
    }
}
