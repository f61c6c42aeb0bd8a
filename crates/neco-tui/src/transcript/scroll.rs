//! What is alive below the terminal's scrollback, and what leaves for it.

use std::collections::VecDeque;

use neco_proto::event::{CallStatus, CompleteReason};
use neco_proto::{AgentId, CallId, Display, Event, EventBody, Question, Subject};
use neco_view::reduce::block::{Block, BlockBody, BlockId, Call, Said};
use neco_view::reduce::{Change, View};
use ratatui::text::Line;

use super::block::{Drawn, Kind, Tone, fence, note, said};
use super::card;
use super::done::Changes;
use super::entry::{Entry, hung, is_over, is_seen, kind};
use super::ledger::{prose, prose_width};
use super::looks;
use super::remembered::Remembered;
use super::start::Start;
use crate::text::streaming::Streaming;

/// Bytes of an answer that the row of a model that was asked again waits for.
const BEGINNING: usize = 600;

/// What stands above what no longer counts.
const NO_LONGER: &str = "No longer part of the conversation";

/// Blocks of before the window opened that are shown.
const SHOWN: usize = 60;

/// What happened and has not yet left.
#[derive(Debug, Default)]
pub struct Transcript {
    /// What happened, as far as it is to be seen: of the rest the blocks are let go.
    pub view: View,
    /// The first rows of the window, while they wait for what they are to tell.
    start: Option<Box<Start>>,
    /// What the window itself has to show; it leaves before anything else, but not in the middle of a part of an answer.
    printed: Vec<Printed>,
    /// The blocks in the order in which they are seen, which is that in which they leave.
    entries: VecDeque<Entry>,
    /// What left last, for the blank row between it and the next.
    above: Option<Kind>,
    remembered: Remembered,
    /// Pieces of before the window opened, until the whole message comes.
    held: Vec<Event>,
    /// Whether more happened before the window opened than is shown.
    pub left_out: bool,
    /// Rows of an answer that stay alive while it is being written.
    pub most_alive: Option<usize>,
    /// Whether the agent is at work, so that more may come of what ended just now.
    pub works: bool,
    /// Whether what left last no longer counts.
    left_void: bool,
    /// What the present work changed, and whether that work is over.
    changes: Changes,
    is_done: bool,
    /// What the person said to a plan, until the call leaves that handed it over.
    plan_answer: Option<String>,
}

#[derive(Debug)]
enum Printed {
    Note(Tone, String),
    Said(String),
    Rows(Vec<Line<'static>>),
}

/// Whether a block is something that no longer counts. A rewind tells where that is, also one that was undone.
fn is_void(block: &Block) -> bool {
    block.void && !matches!(block.body, BlockBody::Rewind(_))
}

impl Transcript {
    /// What happens to an agent.
    pub fn of(agent: AgentId) -> Self {
        Self { view: View::of(agent), ..Self::default() }
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        let changes = self.view.apply(event);
        // What was streamed of this turn may be void.
        if matches!(event.body, EventBody::ModelRetry(_) | EventBody::ModelSwitch(_)) {
            self.drop_lost();
        }
        for change in changes {
            match change {
                Change::Added(id) | Change::Changed(id) => self.changed(id, event),
                Change::Grew(id, piece) | Change::Noted(id, piece) => {
                    self.entries
                        .iter_mut()
                        .rev()
                        .find(|entry| entry.id == id)
                        .into_iter()
                        .for_each(|entry| entry.grew(piece));
                }
                Change::Said { .. } | Change::Waits => {}
            }
        }
        match &event.body {
            EventBody::ToolCallEnd(end) => {
                if let (Some(Display::Diff { files }), CallStatus::Success) = (&end.display, end.status) {
                    self.changes.add(files);
                }
            }
            EventBody::Checkpoint(kept) => self.changes.add_turn(kept),
            EventBody::TurnStart(_) => self.begin_turn(),
            EventBody::Rewind(rewind) if rewind.conversation => {
                let waiting: Vec<BlockId> = self.unseen(|body| matches!(body, BlockBody::Message(_)));
                waiting.into_iter().for_each(|id| drop(self.view.take(id)));
            }
            _ => {}
        }
    }

    /// Where the work before was over, other work begins: what nobody was told of, and what was kept after the end, is no
    /// part of it.
    fn begin_turn(&mut self) {
        if std::mem::take(&mut self.is_done) {
            self.changes = Changes::default();
        }
    }

    /// A block is new or stands otherwise: it is seen from now on, or of no use any more.
    fn changed(&mut self, id: BlockId, event: &Event) {
        let Some(block) = self.view.block(id) else { return };
        if let Some(entry) = self.entries.iter_mut().rev().find(|entry| entry.id == id) {
            entry.changed(block, event.ts.as_millisecond());
            return;
        }
        self.is_done |= matches!(&block.body, BlockBody::End(end) if end.over);
        // What Neco says in the person's place is for the model.
        let unsaid = matches!(&event.body, EventBody::Message(message) if message.is_neco());
        if is_seen(&block.body, &self.view) && !unsaid {
            let mut entry = Entry::new(block);
            // What is tried again and again is one row, and so is the same trouble when nothing helped.
            let is_same = |before: &Entry| match (&block.body, self.view.block(before.id).map(|block| &block.body)) {
                (BlockBody::ModelRetry(_), _) => true,
                (BlockBody::Error(error), Some(BlockBody::ModelRetry(retry))) => error.message == retry.message,
                _ => false,
            };
            if let Some(before) = self.entries.pop_back_if(|entry| !entry.waits_ms.is_empty() && is_same(entry)) {
                entry.waits_ms.splice(0..0, before.waits_ms);
                self.view.take(before.id);
            }
            let Some(block) = self.view.block(id) else { return };
            if let Some(before) = self.entries.back_mut() {
                before.settle_switch(&mut entry, &block.body, &self.view);
            }
            if let BlockBody::End(end) = &block.body
                && end.over
            {
                entry.changes = std::mem::take(&mut self.changes);
            }
            // What was being said when the work was stopped ends in the middle. Some vendors begin with no words.
            if matches!(&block.body, BlockBody::End(end) if end.reason == CompleteReason::Cancelled) {
                let has_words = |entry: &&mut Entry| match self.view.block(entry.id).map(|block| &block.body) {
                    Some(BlockBody::Answer(written)) => !written.text.trim().is_empty(),
                    _ => false,
                };
                self.entries.back_mut().filter(has_words).into_iter().for_each(Entry::cut_off);
            }
            match is_over(&block.body) && !block.body.is_over() {
                true => self.entries.insert(self.first_alive(), entry),
                false => self.entries.push_back(entry),
            }
        } else if block.body.is_over() {
            self.view.take(id);
        }
    }

    /// Takes in an event of before the window opened. Whole messages stand for the pieces they came in.
    pub fn past(&mut self, event: &Event) {
        match &event.body {
            EventBody::StreamChunk(_) => self.held.push(event.clone()),
            // A call comes after the words of its message, which are told as a whole here.
            EventBody::ReasoningChunk(_) | EventBody::StreamToolCallStart(_) | EventBody::StreamToolCallDelta(_) => {}
            // A plan that still waits is shown with its question.
            EventBody::Question(Question { subject: Subject::Plan { .. }, .. }) => self.view.note(event),
            EventBody::TurnStart(_) | EventBody::Message(_) => {
                self.held.clear();
                self.apply(event);
            }
            _ => self.apply(event),
        }
        while self.entries.len() > SHOWN {
            self.entries.pop_front().into_iter().for_each(|entry| drop(self.view.take(entry.id)));
            self.left_out = true;
        }
    }

    /// The events of before are all here; what is alive stays so only if the agent is at work.
    pub fn caught_up(&mut self, works: bool) {
        for event in std::mem::take(&mut self.held) {
            self.apply(&event);
        }
        if !works {
            // Work that was killed never said that it was over.
            self.is_done = true;
            self.view.stop();
            self.drop_lost();
        }
    }

    /// A line of the window itself; it stands above everything that is alive.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.printed.push(Printed::Note(tone, text.into()));
    }

    /// The first rows of a window.
    pub(crate) fn begin(&mut self, start: Start) {
        self.start = Some(Box::new(start));
    }

    /// What the first rows waited for, if they still do.
    pub fn know(&mut self, uncommitted: Option<usize>, knows: String) {
        self.start.iter_mut().for_each(|start| start.know(uncommitted, knows.clone()));
    }

    /// The first rows wait for nothing more.
    pub fn settle_start(&mut self) {
        self.start.iter_mut().for_each(|start| start.settle());
    }

    /// A command that the person wrote, as what they say.
    pub fn echo(&mut self, text: &str) {
        self.printed.push(Printed::Said(text.to_owned()));
    }

    /// Rows of the window itself; they stand above everything that is alive.
    pub fn show(&mut self, rows: Vec<Line<'static>>) {
        self.printed.push(Printed::Rows(rows));
    }

    /// What a command of the person came to, in the column of words; its rows are drawn for [`prose_width`].
    pub fn answer(&mut self, rows: Vec<Line<'static>>) {
        self.show(prose(rows));
    }

    /// What the person said to a plan: it hangs below the call that handed it over, where one did.
    pub fn answer_plan(&mut self, words: String) {
        let waits = self.calls().any(|call| call.tool == card::PLAN && !call.is_over());
        if waits {
            self.plan_answer = Some(words);
        } else {
            self.say(Tone::Plain, words);
        }
    }

    /// A plan that waits since before the window opened, below all that is over and above what is alive.
    pub fn show_plan(&mut self, question: &Question) {
        let id = self.view.ask(None, question);
        if let Some(entry) = self.view.block(id).map(Entry::new) {
            self.entries.insert(self.first_alive(), entry);
        }
    }

    /// What a call is that has not left.
    pub fn summary(&self, call_id: &CallId) -> Option<String> {
        self.calls().find(|call| call.call_id == *call_id).map(|call| neco_proto::visible::visible_line(&call.summary))
    }

    /// Whether something has happened that is on the screen above.
    pub fn has_left(&self) -> bool {
        self.above.is_some_and(|above| above == Kind::Step) || !self.remembered.is_empty()
    }

    /// What was said and waits.
    pub fn waiting(&self) -> impl DoubleEndedIterator<Item = &Said> {
        self.view.unread()
    }

    /// Whether a call runs.
    pub fn runs(&self) -> bool {
        self.calls().any(|call| call.status == CallStatus::Executing)
    }

    /// The call whose command runs.
    pub fn running_command(&self) -> Option<CallId> {
        let runs = |call: &&Call| call.status == CallStatus::Executing && call.tool == card::COMMAND;
        self.calls().find(runs).map(|call| call.call_id.clone())
    }

    /// All of the last call or thought that is over and has more than was seen of it, or of the `back`th before it.
    pub fn whole(&self, back: usize, with: Drawn<'_>) -> Option<Vec<Line<'static>>> {
        self.remembered.whole(back, with)
    }

    /// Another session comes: what is alive ends as it is.
    pub fn close(&mut self) {
        self.settle_start();
        self.view.stop();
        self.drop_lost();
        self.unseen(|_| true).into_iter().for_each(|id| drop(self.view.take(id)));
        self.left_out = false;
    }

    /// Nothing of what is over is known any more.
    pub fn forget(&mut self) {
        self.remembered.clear();
        self.view.forget();
    }

    /// The rows that can leave now: blocks that are over, in order, and of an answer that is still being
    /// written what can't change any more.
    pub fn leave(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let is_alone = self.printed.is_empty() && self.entries.is_empty();
        if let Some(start) = self.start.take_if(|start| start.is_known() || !is_alone) {
            self.depart(start.rows(with.width, with.theme), Kind::Words, true, &mut rows);
        }
        self.leave_printed(with, &mut rows);
        loop {
            match self.looks_in_front() {
                Some((_, false)) => break,
                Some((count @ 2.., true)) => {
                    self.leave_looks(count, with, &mut rows);
                    continue;
                }
                Some((_, true)) | None => {}
            }
            let Some((mut entry, block)) = self.next_over() else { break };
            let apart = self.above.is_some_and(|above| entry.stands_apart(&block.body, above));
            let void = is_void(&block);
            if void && !self.left_void {
                self.depart(fence(NO_LONGER, with.width, with.theme), Kind::Step, true, &mut rows);
            }
            self.left_void = void;
            let mut drawn = entry.last_rows(&block, &self.view, with);
            if let Some(words) =
                self.plan_answer.take_if(|_| matches!(&block.body, BlockBody::Call(call) if call.tool == card::PLAN))
            {
                drawn.extend(hung(&words, with.width, with.theme));
            }
            self.depart(drawn, kind(&block.body), apart, &mut rows);
            let took = entry.took_ms(&block);
            self.remembered.add(block.body, took);
            self.leave_printed(with, &mut rows);
        }
        self.leave_settled(with, &mut rows);
        self.leave_printed(with, &mut rows);
        rows
    }

    /// What the window itself has to show leaves; not in the middle of a program or a paragraph of an answer.
    fn leave_printed(&mut self, with: Drawn<'_>, rows: &mut Vec<Line<'static>>) {
        let is_in_part = |(text, begun): &(Box<Streaming>, bool)| *begun && text.is_in_part();
        if self.entries.front().is_some_and(|entry| entry.answer.as_ref().is_some_and(is_in_part)) {
            return;
        }
        for printed in std::mem::take(&mut self.printed) {
            let (drawn, kind) = match printed {
                Printed::Note(tone, text) => (note(tone, &text, with.width, with.theme), Kind::Step),
                Printed::Said(text) => (said(&text, with.width, with.theme), Kind::Words),
                Printed::Rows(rows) => (rows, Kind::Words),
            };
            self.depart(drawn, kind, kind == Kind::Words || self.above == Some(Kind::Words), rows);
        }
    }

    /// The rows of what is alive.
    pub fn live(&mut self, with: Drawn<'_>) -> Vec<Line<'static>> {
        let mut rows: Vec<Line<'static>> =
            self.start.iter().flat_map(|start| start.rows(with.width, with.theme)).collect();
        let (mut above, mut void) = (self.above, self.left_void);
        let looks = self.looks();
        let together = if looks > 1 { looks } else { 0 };
        if together > 0 {
            if above.is_some_and(|above| above == Kind::Words) {
                rows.push(Line::default());
            }
            let blocks = self.entries.iter().take(together).filter_map(|entry| self.view.block(entry.id));
            rows.push(looks::row(&blocks.filter_map(looks::looks).collect::<Vec<_>>(), with));
            above = Some(Kind::Step);
        }
        for entry in self.entries.iter_mut().skip(together) {
            let Some(block) = self.view.block(entry.id) else { continue };
            if is_void(block) && !void {
                rows.extend(fence(NO_LONGER, with.width, with.theme));
            }
            void = is_void(block);
            let apart = above.is_some_and(|above| entry.stands_apart(&block.body, above));
            let drawn = entry.rows(block, &self.view, with);
            // What is shown elsewhere stands between nothing here.
            if !drawn.is_empty() {
                above = Some(kind(&block.body));
                rows.extend(apart.then(Line::default));
                rows.extend(drawn);
            }
            // What came in the middle of a text waits for its end.
            if matches!(&block.body, BlockBody::Answer(written) | BlockBody::Thinking(written) if !written.over) {
                break;
            }
        }
        rows
    }

    /// How many calls that only look stand in front, one behind the other.
    fn looks(&self) -> usize {
        let block = |entry: &Entry| self.view.block(entry.id);
        let void = self.entries.front().and_then(block).is_some_and(|block| block.void);
        let looks =
            |entry: &&Entry| block(entry).is_some_and(|block| looks::looks(block).is_some() && block.void == void);
        if void == self.left_void { self.entries.iter().take_while(looks).count() } else { 0 }
    }

    /// The same, and whether they can leave: all are over, and nothing that belongs to them can come.
    fn looks_in_front(&self) -> Option<(usize, bool)> {
        let count = self.looks();
        let over = |entry: &Entry| self.view.block(entry.id).is_none_or(|block| is_over(&block.body));
        let are_over = self.entries.iter().take(count).all(over);
        let is_last = count == self.entries.len();
        (count > 0).then_some((count, are_over && !(is_last && self.works)))
    }

    fn leave_looks(&mut self, count: usize, with: Drawn<'_>, rows: &mut Vec<Line<'static>>) {
        let entries: Vec<Entry> = self.entries.drain(..count).collect();
        let blocks: Vec<Block> = entries.iter().filter_map(|entry| self.view.take(entry.id)).collect();
        let row = looks::row(&blocks.iter().filter_map(looks::looks).collect::<Vec<_>>(), with);
        self.depart(vec![row], Kind::Step, self.above == Some(Kind::Words), rows);
        blocks.into_iter().for_each(|block| self.remembered.add(block.body, None));
    }

    /// Takes the first block if nothing more comes of it.
    fn next_over(&mut self) -> Option<(Entry, Block)> {
        // How often a model is asked again, and whether another one answers, is known when something else comes. The
        // beginning of an answer may break off like the one before.
        let waits = self.works && self.entries.iter().skip(1).all(|entry| self.is_beginning(entry));
        let entry = self.entries.pop_front_if(|entry| {
            let is_free = |body: &BlockBody| is_over(body) && !(waits && entry.is_undecided(body));
            self.view.block(entry.id).is_none_or(|block| is_free(&block.body))
        })?;
        let block = self.view.take(entry.id)?;
        Some((entry, block))
    }

    /// Whether it is the first of an answer or a thought that goes on.
    fn is_beginning(&self, entry: &Entry) -> bool {
        matches!(
            self.view.block(entry.id).map(|block| &block.body),
            Some(BlockBody::Answer(written) | BlockBody::Thinking(written))
                if !written.over && written.text.len() < BEGINNING
        )
    }

    fn leave_settled(&mut self, with: Drawn<'_>, rows: &mut Vec<Line<'static>>) {
        let Some(Entry { answer: Some((text, begun)), .. }) = self.entries.front_mut() else { return };
        let width = prose_width(with.width);
        let mut drawn = text.settle(width, with.theme);
        drawn.extend(text.ease(self.most_alive.unwrap_or(usize::MAX), width, with.theme));
        let drawn = prose(drawn);
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

    /// Where what is over ends.
    fn first_alive(&self) -> usize {
        let alive = |entry: &Entry| self.view.block(entry.id).is_some_and(|block| !is_over(&block.body));
        self.entries.iter().position(alive).unwrap_or(self.entries.len())
    }

    /// What is gone from the view is not to be seen.
    fn drop_lost(&mut self) {
        self.entries.retain(|entry| self.view.block(entry.id).is_some());
    }

    /// Blocks that wait for something before they are seen.
    fn unseen(&self, of: impl Fn(&BlockBody) -> bool) -> Vec<BlockId> {
        let is_seen = |id: BlockId| self.entries.iter().any(|entry| entry.id == id);
        self.view.blocks.iter().filter(|block| of(&block.body) && !is_seen(block.id)).map(|block| block.id).collect()
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.view.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Call(call) => Some(call.as_ref()),
            _ => None,
        })
    }
}
