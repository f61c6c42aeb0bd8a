//! What a log says about going back: the messages of the person that count, the states of the files that
//! were kept, and the last rewind.

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use neco_proto::event::{CallStatus, Checkpoint, CheckpointWhen, NotificationTopic, Rewind, ToolCallEnd};
use neco_proto::{
    AgentId, ChangedFiles, CheckpointInfo, Display, Event, EventBody, Message, MessageId, RewindPoint, Role, Seq,
    SessionId,
};
use neco_store::{EventLog, StoreError};
use neco_workspace::checkpoint::{TurnWork, Unfinished};

use super::editors::Editors;
use super::error::RewindError;
use super::outside::Outside;
use super::turn_work::TurnWorks;
use crate::fold::{Effective, Rewinds, each_event};

/// Fewest characters of the name of a state that stand for it.
pub const SHORTEST_REV: usize = 4;

/// How long after the last that was heard of it work may have changed something before it was killed.
const GRACE_MS: i64 = 15_000;

/// What a log says about going back.
#[derive(Clone, Debug, Default)]
pub struct RewindHistory {
    /// The last event.
    pub last_seq: Seq,
    /// The root agent.
    pub root: Option<AgentId>,
    /// The messages of the person that count, oldest first.
    pub points: Vec<RewindPoint>,
    /// The states of the files that were kept, oldest first.
    pub checkpoints: Vec<Kept>,
    /// The rewinds that hold, the last one at the end.
    pub(super) rewound: Vec<Gone>,
    /// Those that took one back and hold, the last one at the end.
    pub(super) undone: Vec<Gone>,
    /// Whether something was asked and the work on it has not ended.
    pub working: bool,
    /// Whether the last thing that the model was told is that files were put back.
    pub(super) told: bool,
    /// Whether files went back without the conversation, and nothing was said since.
    went_alone: bool,
    /// The state before a restore that has no end in the log: the files may be anything between two states. Where
    /// another one began before files were worked on, it is the state before the first of them.
    pub cut_short: Option<Kept>,
    /// Whether the restore that is under way replaces what one left that was cut short.
    over_half: bool,
    /// The states before work, or a restore, that was cut short, so that none was kept after it.
    pub unfinished: Vec<Unfinished>,
    /// The work, or the restore, that is under way.
    under_way: Option<Begun>,
    /// Whether a turn of the root has begun and not ended.
    in_turn: bool,
    /// The turn before, whose changes may not be kept yet.
    before_turn: Option<Begun>,
    told_last: Option<String>,
    /// When something was heard of work last, in milliseconds since 1970.
    last_ms: i64,
    /// All messages of the person, also those that do not count.
    said: Vec<RewindPoint>,
    /// The files that were changed because of the last of them.
    changed: BTreeSet<String>,
    /// What the files were known to be, one after the other.
    states: Vec<Known>,
    /// The states that rewinds left which changed files, and when, in milliseconds since 1970.
    left: Vec<(String, i64)>,
    /// Where changes were made that no state shows.
    unkept: Vec<Seq>,
    outside: Outside,
    works: TurnWorks,
    /// Who edited which file.
    pub editors: Editors,
    rewinds: Rewinds,
    effective: Effective,
}

/// A state of the files, as the log tells of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Its event.
    pub seq: Seq,
    pub ts: Timestamp,
    /// The state.
    pub checkpoint: Checkpoint,
}

/// A rewind that was gone.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    /// Its event.
    pub seq: Seq,
    /// When, in milliseconds since 1970.
    pub ms: i64,
    /// Whether taking it back brings what a rewind left that was cut short, because somebody worked on that.
    pub over_half: bool,
    /// The rewind. Where it replaced what one left that was cut short, and nobody had worked on that, its `undo` is
    /// what was there before both.
    pub rewind: Rewind,
}

/// Work, or a restore, that has begun.
#[derive(Clone, Debug)]
struct Begun {
    /// The state before it.
    rev: String,
    /// The state that a restore puts in its place.
    to: Option<String>,
    /// When, in milliseconds since 1970.
    since_ms: i64,
}

/// What the files were known to be.
#[derive(Clone, Debug)]
struct Known {
    seq: Seq,
    rev: String,
    /// Whether work led to it, or a conversation that went back; not that only files were put back.
    is_course: bool,
}

impl RewindHistory {
    /// The course of a session.
    pub async fn read(log: &dyn EventLog, session: SessionId) -> Result<Self, StoreError> {
        let mut course = Self::default();
        each_event(log, session, 0, |event| course.note(&event)).await?;
        Ok(course.counted())
    }

    /// The course of a log.
    pub fn of(events: &[Event]) -> Self {
        let mut course = Self::default();
        events.iter().for_each(|event| course.note(event));
        course.counted()
    }

    /// The message that a person means: its number from 1, or the beginning of its id.
    pub fn find(&self, wanted: &str) -> Result<&RewindPoint, RewindError> {
        if self.points.is_empty() {
            return Err(RewindError::NothingSaid);
        }
        // An id of digits alone is longer than any number of messages.
        if let Ok(number) = wanted.parse::<usize>()
            && let Some(point) = number.checked_sub(1).and_then(|index| self.points.get(index))
        {
            return Ok(point);
        }
        let begins = |point: &&RewindPoint| wanted.len() > 3 && point.message_id.to_string().starts_with(wanted);
        let mut found = self.points.iter().filter(begins);
        match (found.next(), found.next()) {
            (Some(point), None) => Ok(point),
            (Some(_), Some(_)) => Err(RewindError::Ambiguous(wanted.to_owned())),
            (None, _) => Err(RewindError::NoMessage { wanted: wanted.to_owned(), count: self.points.len() }),
        }
    }

    /// The message whose id begins so, also one that no longer counts.
    pub fn ever_said(&self, wanted: &str) -> Option<&RewindPoint> {
        let begins = |point: &&RewindPoint| wanted.len() > 3 && point.message_id.to_string().starts_with(wanted);
        let mut found = self.said.iter().filter(begins);
        found.next().filter(|_| found.next().is_none())
    }

    /// The message of this id.
    /// Fails when it is none of the person's, or no longer counts.
    pub fn point(&self, id: MessageId) -> Result<&RewindPoint, RewindError> {
        let missing = || RewindError::NoMessage { wanted: id.to_string(), count: self.points.len() };
        self.points.iter().find(|point| point.message_id == id).ok_or_else(missing)
    }

    /// Whether the event at `seq` counts.
    pub fn counts(&self, seq: Seq) -> bool {
        self.effective.counts(seq)
    }

    /// The messages that would no longer count, and those that would count again, if the conversation went
    /// back to the event `to`.
    pub(super) fn difference(&self, to: Seq) -> (Vec<RewindPoint>, Vec<RewindPoint>) {
        let then = self.rewinds.effective(to);
        let those =
            |wanted: &dyn Fn(Seq) -> bool| self.said.iter().filter(|point| wanted(point.seq)).cloned().collect();
        (those(&|seq| self.counts(seq) && !then.counts(seq)), those(&|seq| then.counts(seq) && !self.counts(seq)))
    }

    /// The name of the state that the files were in when the event at `seq` happened, as far as it is known.
    /// Best is what was kept before the first change that the message at `seq` led to, for it has what people
    /// did themselves until then. A message that led to none is followed by the same files as the work before
    /// it left.
    pub fn files_at(&self, seq: Seq) -> Option<&str> {
        let next = self.checkpoints.partition_point(|kept| kept.seq <= seq);
        let later = self.checkpoints.get(next);
        let next_said = self.said.iter().map(|point| point.seq).find(|said| *said > seq).unwrap_or(Seq::MAX);
        if later.is_some_and(|kept| kept.seq < next_said) {
            return self.started_from(next);
        }
        let known = self.states.partition_point(|known| known.seq <= seq);
        if let Some(known) = known.checked_sub(1).and_then(|last| self.states.get(last)) {
            return Some(&known.rev);
        }
        // Nothing was kept before it, so nothing was changed before it; nor since, unless that could not be kept.
        let unkept = |at: &Seq| *at > seq && later.is_some_and(|kept| *at < kept.seq);
        if self.unkept.iter().any(unkept) { None } else { self.started_from(next) }
    }

    /// What the files were when the work began that the checkpoint at `index` is the first of.
    fn started_from(&self, index: usize) -> Option<&str> {
        let first = &self.checkpoints.get(index)?.checkpoint;
        match first.when {
            CheckpointWhen::Before | CheckpointWhen::Restore => Some(&first.rev),
            CheckpointWhen::After => {
                let before = index.checked_sub(1).and_then(|at| self.checkpoints.get(at));
                first.parent.as_deref().or(before.map(|kept| kept.checkpoint.rev.as_str()))
            }
        }
    }

    /// The state that a person names: by the beginning of its name, or as `end` for what the work that counts left.
    pub fn state(&self, wanted: &str) -> Result<&str, RewindError> {
        let none = || RewindError::NoState(wanted.to_owned());
        if wanted == "end" {
            let counts = |known: &&Known| known.is_course && self.counts(known.seq);
            let last = self.states.iter().rfind(counts).or(self.states.last());
            return last.map(|known| known.rev.as_str()).ok_or_else(none);
        }
        let revs = self.checkpoints.iter().map(|kept| kept.checkpoint.rev.as_str());
        let mut found = revs.filter(|rev| wanted.len() >= SHORTEST_REV && rev.starts_with(wanted));
        let first = found.next().ok_or_else(none)?;
        match found.all(|rev| rev == first) {
            true => Ok(first),
            false => Err(RewindError::SeveralStates(wanted.to_owned())),
        }
    }

    /// The state of the files at a point that a person names: the number of a message or the beginning of its id (as they
    /// were when it was said), the beginning of a state's name, or `end`. None where nothing was ever kept, so that
    /// nothing was changed.
    ///
    /// # Errors
    /// When there is no such point, or no state of then is known.
    pub fn files_of(&self, wanted: &str) -> Result<Option<&str>, RewindError> {
        // A number is a message's as far as there are any; names of states may be digits alone.
        let is_number = wanted.parse::<usize>().is_ok_and(|number| number <= self.points.len());
        if let Some(rev) = self.state(wanted).ok().filter(|_| !is_number) {
            return Ok(Some(rev));
        }
        match self.files_at(self.find(wanted)?.seq) {
            None if !self.checkpoints.is_empty() => Err(RewindError::NoCheckpoint),
            rev => Ok(rev),
        }
    }

    /// What is known of a state: when it was kept last.
    pub(super) fn kept(&self, rev: &str) -> Option<&Kept> {
        self.checkpoints.iter().rfind(|kept| kept.checkpoint.rev == rev)
    }

    /// When a rewind left this state, in milliseconds since 1970.
    pub(super) fn left_at(&self, rev: &str) -> Option<i64> {
        self.left.iter().rfind(|(left, _)| left == rev).map(|(_, ms)| *ms)
    }

    /// The first words of a message, also of one that does not count.
    pub(super) fn words(&self, message: MessageId) -> String {
        self.said.iter().find(|point| point.message_id == message).map(|point| point.text.clone()).unwrap_or_default()
    }

    /// What was done beyond the workspace after the event at `seq`, as far as that counts.
    pub(super) fn outside_since(&self, seq: Seq) -> Vec<String> {
        self.outside.since(seq, |seq| self.counts(seq))
    }

    /// Whether work changed files after the event at `seq`.
    pub(super) fn worked_since(&self, seq: Seq) -> bool {
        let worked = |kept: &&Kept| kept.checkpoint.when == CheckpointWhen::After && kept.seq > seq;
        self.checkpoints.iter().rev().any(|kept| worked(&kept))
    }

    /// The states after turns, and after rewinds: what lies before one of them was changed by the session.
    pub fn turns(&self) -> Vec<String> {
        let after = self.checkpoints.iter().filter(|kept| kept.checkpoint.when == CheckpointWhen::After);
        after.map(|kept| kept.checkpoint.rev.clone()).chain(self.left.iter().map(|(rev, _)| rev.clone())).collect()
    }

    /// What calls did in those turns, by the states after them, as far as it is known.
    pub fn turn_work(&self) -> HashMap<String, TurnWork> {
        self.works.by_state()
    }

    /// Whether the person said something up to the event `at`.
    pub fn is_said(&self, at: Seq) -> bool {
        self.said.first().is_some_and(|first| first.seq <= at)
    }

    /// Whether the session changed no files, as far as anything tells.
    pub fn changed_nothing(&self) -> bool {
        self.checkpoints.is_empty() && self.unkept.is_empty()
    }

    /// The states of the files for a window.
    pub fn checkpoint_infos(&self) -> Vec<CheckpointInfo> {
        let info = |Kept { seq, ts, checkpoint }: &Kept| CheckpointInfo {
            rev: checkpoint.rev.clone(),
            seq: *seq,
            ts: *ts,
            label: checkpoint.label.clone(),
            when: checkpoint.when,
            changed: checkpoint.changed_count(),
        };
        self.checkpoints.iter().map(info).collect()
    }

    /// What was under way came to no end. What it changed it changed while it was heard of, or a moment later.
    fn was_cut(&mut self) {
        let until_ms = self.last_ms.saturating_add(GRACE_MS);
        let cut = self.under_way.take();
        self.unfinished.extend(cut.map(|Begun { rev, to, since_ms }| Unfinished { rev, to, since_ms, until_ms }));
    }

    /// Something else is under way from now on.
    fn begin(&mut self, begun: Begun) {
        self.end();
        self.under_way = Some(begun);
    }

    /// What was under way is over. A restore whose end is not in the log came to none.
    fn end(&mut self) {
        if self.under_way.as_ref().is_some_and(|begun| begun.to.is_some()) {
            self.was_cut();
        }
        self.under_way = None;
    }

    fn note(&mut self, event: &Event) {
        self.take_in(event);
        if is_heard_of_work(&event.body) {
            self.last_ms = event.ts.as_millisecond();
        }
    }

    fn take_in(&mut self, event: &Event) {
        self.last_seq = event.seq;
        self.root.get_or_insert(event.agent_id);
        self.rewinds.note(event);
        self.outside.note(event);
        self.works.note(event);
        self.editors.note(event);
        // Only what the root said and was told can be gone back to; files are everybody's.
        if self.root != Some(event.agent_id) && !matches!(event.body, EventBody::Checkpoint(_)) {
            return;
        }
        match &event.body {
            EventBody::Message(message) => {
                self.working |= !message.is_neco();
                // After files alone went back, the next word of Neco is about that.
                self.told = std::mem::take(&mut self.went_alone) && message.is_neco();
                if message.role == Role::User && !message.is_neco() {
                    // What was taken back before the work went on is not brought back over that work.
                    self.undone.clear();
                    self.said.push(point(event, message));
                    self.changed.clear();
                }
            }
            EventBody::AgentComplete(_) => {
                (self.working, self.in_turn, self.before_turn) = (false, false, None);
                self.end();
            }
            EventBody::SessionStart(_) => {
                (self.working, self.in_turn, self.before_turn) = (false, false, None);
                self.was_cut();
            }
            EventBody::TurnEnd(_) => (self.in_turn, self.before_turn) = (false, self.under_way.take()),
            // A state that is the same as the last one is not told again.
            EventBody::TurnStart(_) => {
                self.in_turn = true;
                let begun = self.before_turn.take().filter(|begun| Some(&begun.rev) == self.told_last.as_ref());
                let since_ms = begun.map_or(event.ts.as_millisecond(), |begun| begun.since_ms);
                if let Some(rev) = self.told_last.clone() {
                    self.begin(Begun { rev, to: None, since_ms });
                }
            }
            EventBody::ToolCallEnd(end) => {
                if let Some(point) = self.said.last_mut() {
                    point.calls += 1;
                }
                self.edited(end);
            }
            EventBody::Checkpoint(checkpoint) => {
                self.differs(checkpoint);
                let restores = checkpoint.when == CheckpointWhen::Restore;
                let kept = Kept { seq: event.seq, ts: event.ts, checkpoint: checkpoint.clone() };
                if restores {
                    // Nothing is restored in the middle of a turn; what agents do beside it has ended by then.
                    if self.in_turn {
                        self.was_cut();
                    }
                    let cut = self.cut_short.take();
                    self.over_half = cut.is_some();
                    let whole = cut.filter(|before| !self.worked_since(before.seq));
                    self.cut_short = Some(whole.unwrap_or_else(|| kept.clone()));
                }
                self.told_last = Some(checkpoint.rev.clone());
                match (checkpoint.when, &mut self.under_way) {
                    // What a turn left may be told when the next one has begun; and of an agent that works on after
                    // the root, nothing tells when its next turn begins.
                    (CheckpointWhen::After, Some(begun)) if begun.to.is_none() => begun.rev.clone_from(&checkpoint.rev),
                    (CheckpointWhen::After, _) => self.end(),
                    (CheckpointWhen::Before | CheckpointWhen::Restore, _) => {
                        let (rev, to) = (checkpoint.rev.clone(), checkpoint.to.clone());
                        self.begin(Begun { rev, to, since_ms: event.ts.as_millisecond() });
                    }
                }
                self.states.push(Known { seq: event.seq, rev: checkpoint.rev.clone(), is_course: !restores });
                self.checkpoints.push(kept);
            }
            EventBody::Notification(told) => {
                self.unkept.extend((told.topic() == Some(NotificationTopic::NotKept)).then_some(event.seq));
            }
            EventBody::Rewind(rewind) => {
                // A rewind of the conversation alone leaves the files as they are.
                let cut_short = self.cut_short.take_if(|_| rewind.undo.is_some());
                // What somebody did to files by hand since then must come back with an undo.
                let cut_short = cut_short.filter(|_| !rewind.over_others).map(|before| before.checkpoint.rev);
                // What was there before one that was cut short is back: nobody wants the half of it again.
                // A conversation that goes back is no mending, also where the files were in its state already.
                let brings_back = cut_short.is_some() && cut_short == rewind.files;
                let mends = brings_back && rewind.undoes.is_none() && !rewind.conversation;
                if rewind.undo.is_some() {
                    self.under_way = None;
                }
                self.end();
                // What no longer counts told nobody anything.
                self.told &= !rewind.conversation;
                self.went_alone = !rewind.conversation;
                let is_course = rewind.conversation;
                // What was left to others is in no state that was aimed at.
                let now = rewind.now.as_ref().or(rewind.files.as_ref());
                self.states.extend(now.cloned().map(|rev| Known { seq: event.seq, rev, is_course }));
                // Where nothing was changed it is the state before, which may be anybody's.
                let left = rewind.now.clone().filter(|now| rewind.undo.as_ref() != Some(now));
                self.left.extend(left.map(|rev| (rev, event.ts.as_millisecond())));
                if !mends {
                    let undo = cut_short.or_else(|| rewind.undo.clone());
                    let over_half = self.over_half && undo.is_some() && undo == rewind.undo;
                    let rewind = Rewind { undo, ..rewind.clone() };
                    self.went(Gone { seq: event.seq, ms: event.ts.as_millisecond(), over_half, rewind });
                }
                self.working &= !rewind.conversation;
            }
            // Nothing else can be gone back to, or says what the files are.
            _ => {}
        }
    }

    /// Takes note of a rewind: one of its own, one that takes another back, or one that takes that back.
    fn went(&mut self, went: Gone) {
        match went.rewind.undoes {
            None => {
                self.undone.clear();
                self.rewound.push(went);
            }
            Some(undoes) if self.rewound.last().is_some_and(|last| last.seq == undoes) => {
                self.rewound.pop();
                self.undone.push(went);
            }
            Some(_) => {
                self.undone.pop();
                self.rewound.push(went);
            }
        }
    }

    /// A call is over, which may have edited files.
    fn edited(&mut self, end: &ToolCallEnd) {
        let (Some(Display::Diff { files }), CallStatus::Success) = (&end.display, end.status) else { return };
        let Some(point) = self.said.last_mut() else { return };
        self.changed.extend(files.iter().map(|file| file.path.clone()));
        point.changed.files = point.changed.files.max(self.changed.len() as u64);
        point.changed.added += files.iter().map(|file| u64::from(file.added)).sum::<u64>();
        point.changed.removed += files.iter().map(|file| u64::from(file.removed)).sum::<u64>();
    }

    /// Files are different after a turn: commands change them too.
    fn differs(&mut self, kept: &Checkpoint) {
        let Some(point) = self.said.last_mut() else { return };
        if kept.when == CheckpointWhen::After && kept.parent.is_some() {
            self.changed.extend(kept.changed.iter().map(|file| file.path.clone()));
            point.changed.files = point.changed.files.max(self.changed.len() as u64 + kept.more);
        }
    }

    /// Without what no longer counts.
    fn counted(mut self) -> Self {
        self.was_cut();
        self.effective = self.rewinds.effective(self.last_seq);
        let effective = &self.effective;
        self.points = self.said.iter().filter(|point| effective.counts(point.seq)).cloned().collect();
        let changes = |kept: &Kept| kept.checkpoint.when == CheckpointWhen::After;
        let last_change = self.checkpoints.iter().rfind(|kept| changes(kept)).map_or(0, |kept| kept.seq);
        for (index, point) in self.points.iter_mut().enumerate() {
            point.number = index as u64 + 1;
            point.files = point.seq < last_change;
        }
        for said in &mut self.said {
            let found = self.points.binary_search_by_key(&said.seq, |point| point.seq);
            if let Some(point) = found.ok().and_then(|index| self.points.get(index)) {
                said.clone_from(point);
            }
        }
        self
    }
}

/// Whether work itself writes such an event: what mends a log, or is said when a session is opened again, is none.
fn is_heard_of_work(body: &EventBody) -> bool {
    // What the session asks beside the conversation is no work in it.
    if let EventBody::Usage(used) = body {
        return used.aside.is_none();
    }
    matches!(
        body,
        EventBody::TurnStart(_)
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolOutputChunk(_)
            | EventBody::PermissionRequest(_)
            | EventBody::Checkpoint(_)
    )
}

fn point(event: &Event, message: &Message) -> RewindPoint {
    RewindPoint {
        number: 0,
        message_id: message.id,
        seq: event.seq,
        ts: event.ts,
        text: Message::written(&message.text()).to_owned(),
        calls: 0,
        files: false,
        changed: ChangedFiles::default(),
    }
}
