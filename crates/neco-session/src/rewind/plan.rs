//! One way back, and what it would do.

use std::collections::HashMap;
use std::ops::Deref;

use neco_proto::event::{Rewind, RewindWhat};
use neco_proto::{Message, MessageId, RewindKind, RewindPoint, RewindPreview, Seq};
use neco_workspace::checkpoint::{TurnWork, Unfinished};

use super::error::RewindError;
use super::history::{Gone, RewindHistory};

/// What the model is told when only files went back.
const FILES_BACK: &str = "The user put the files of the workspace back into an earlier state. What you know of them may \
                          be out of date: look before you rely on it.";

/// What a person is told before an undo is taken back.
const TAKES_UNDO_BACK: &str = "this redoes the rewind";

/// What a person is told before what was done since goes too.
const OVER_WORK: &str = "files were changed since; those changes are lost too";

/// What a person is told before files come back as they were worked on after a rewind that was cut short.
const OF_SEVERAL_STATES: &str =
    "this brings files back as they were after an interrupted rewind: some of them may be of another state";

/// One way back.
#[derive(Clone, Debug, PartialEq)]
pub struct RewindPlan {
    /// What it would do to the conversation; of the files nothing is known here.
    pub shown: RewindPreview,
    /// The moment that is gone back to, in milliseconds since 1970.
    pub since_ms: i64,
    /// The rewind that this one takes back.
    pub undoes: Option<Seq>,
    /// Work that was cut short: what it changed is the session's own.
    pub unfinished: Vec<Unfinished>,
    /// The states after the turns that the log tells of.
    pub turns: Vec<String>,
    /// What calls did in them, as far as it is known.
    pub work: HashMap<String, TurnWork>,
    /// Whether files go back too that only others changed.
    pub takes_theirs: bool,
    /// Whether it brings back what was there before a rewind that was cut short.
    pub is_mending: bool,
    /// Whether the files may be half of one state and half of another, as a rewind left them that was cut short.
    pub is_over_half: bool,
    /// Whether the model knows already that files were put back.
    pub is_told: bool,
}

impl Deref for RewindPlan {
    type Target = RewindPreview;

    fn deref(&self) -> &RewindPreview {
        &self.shown
    }
}

impl RewindHistory {
    /// The way back to before the message at `point`.
    /// Fails when only the files should go back and no state of theirs is known.
    pub fn way(&self, point: &RewindPoint, what: RewindWhat) -> Result<RewindPlan, RewindError> {
        let rev = if what.files() { self.files_at(point.seq) } else { None };
        if what == RewindWhat::Files && rev.is_none() {
            return Err(RewindError::NoCheckpoint);
        }
        let rev = rev.map(str::to_owned);
        let mut way = self.plan(RewindKind::Message, point.message_id, what, point.seq.saturating_sub(1));
        if what == RewindWhat::Both && rev.is_none() {
            way.shown.notes.push(match self.changed_nothing() {
                true => "the session changed no files, so they stay as they are".to_owned(),
                false => "no checkpoint from then, so files stay as they are".to_owned(),
            });
        }
        if rev.is_some() {
            way.shown.not_undone = self.outside_since(point.seq);
        }
        (way.shown.about, way.shown.rev, way.since_ms) = (point.text.clone(), rev, point.ts.as_millisecond());
        Ok(way)
    }

    /// The way to a state of the files that a person names; the conversation stays. All files go into that state, whoever
    /// changed them.
    pub fn way_to_state(&self, rev: &str) -> RewindPlan {
        let last = self.points.last().map_or_else(MessageId::new, |point| point.message_id);
        let mut way = self.plan(RewindKind::Checkpoint, last, RewindWhat::Files, self.last_seq);
        if let Some(kept) = self.kept(rev) {
            (way.shown.about, way.since_ms) = (kept.checkpoint.label.clone(), kept.ts.as_millisecond());
            way.shown.not_undone = self.outside_since(kept.seq);
        } else if let Some(ms) = self.left_at(rev) {
            (way.shown.about, way.since_ms) = ("after going back".to_owned(), ms);
        }
        way.shown.rev = Some(rev.to_owned());
        way.takes_theirs = true;
        way
    }

    /// The way that takes the last rewind back that holds, or what one did that was cut short. When every rewind was
    /// taken back already, it takes the last of those back.
    /// Fails when there is none.
    pub fn undo(&self) -> Result<RewindPlan, RewindError> {
        if let Some(before) = &self.cut_short {
            let mut way = self.way_to_state(&before.checkpoint.rev);
            way.shown.kind = RewindKind::Undo;
            way.shown.notes.push("the last rewind was interrupted; this restores what was there before it".to_owned());
            way.is_mending = true;
            return Ok(way.over(self.worked_since(before.seq)));
        }
        match self.rewound.last() {
            Some(gone) => Ok(self.taking_back(gone)),
            None => self.redo().map_err(|_| RewindError::NothingToUndo),
        }
    }

    /// The way that brings the rewind back that was taken back last.
    pub fn redo(&self) -> Result<RewindPlan, RewindError> {
        let mut way = self.taking_back(self.undone.last().ok_or(RewindError::NothingToRedo)?);
        way.shown.kind = RewindKind::Redo;
        way.shown.notes.insert(0, TAKES_UNDO_BACK.to_owned());
        Ok(way)
    }

    /// The way one turn back: over the last undo of a rewind if nothing was said since, otherwise to before the last
    /// message that counts.
    /// Fails when nothing is left to be taken back.
    pub fn back(&self) -> Result<RewindPlan, RewindError> {
        self.redo().or_else(|_| self.way(self.points.last().ok_or(RewindError::NothingBack)?, RewindWhat::Both))
    }

    /// The way that brings forth again what was taken back last, or what a rewind left that was cut short.
    /// Fails when nothing is taken back.
    pub fn forth(&self) -> Result<RewindPlan, RewindError> {
        let way = self.undo().ok().filter(|way| way.kind == RewindKind::Undo);
        way.ok_or(RewindError::NothingForth)
    }

    fn taking_back(&self, Gone { seq, ms, over_half, rewind }: &Gone) -> RewindPlan {
        let what = match (rewind.conversation, rewind.undo.is_some()) {
            (true, true) => RewindWhat::Both,
            (true, false) => RewindWhat::Conversation,
            (false, _) => RewindWhat::Files,
        };
        let mut way = self.plan(RewindKind::Undo, rewind.message_id, what, seq.saturating_sub(1));
        (way.shown.about, way.shown.rev) = (self.words(rewind.message_id), rewind.undo.clone());
        (way.since_ms, way.undoes) = (*ms, Some(*seq));
        way.shown.notes.extend(over_half.then(|| OF_SEVERAL_STATES.to_owned()));
        way.over(what.files() && self.worked_since(*seq))
    }

    /// A way to the event `to` that leaves the files alone.
    fn plan(&self, kind: RewindKind, message_id: MessageId, what: RewindWhat, to: Seq) -> RewindPlan {
        let (messages, again) = if what.conversation() { self.difference(to) } else { Default::default() };
        let (about, rev, files, notes, not_undone) = Default::default();
        RewindPlan {
            shown: RewindPreview {
                kind,
                about,
                message_id,
                what,
                to,
                messages,
                again,
                rev,
                files,
                notes,
                not_undone,
                over_work: false,
            },
            since_ms: i64::MAX,
            undoes: None,
            unfinished: self.unfinished.clone(),
            turns: self.turns(),
            work: self.turn_work(),
            takes_theirs: false,
            is_mending: false,
            is_over_half: self.cut_short.is_some(),
            is_told: self.told,
        }
    }
}

impl RewindPlan {
    /// Whether there is nothing to do, as `preview` shows it. What takes something back is done all the same: what was
    /// taken back before is in its way otherwise.
    pub fn is_nothing(&self, preview: &RewindPreview) -> bool {
        let takes_back = self.undoes.is_some() || self.is_mending;
        !takes_back && self.messages.is_empty() && self.again.is_empty() && preview.files.is_empty()
    }

    /// The same, which goes over work on files or does not.
    fn over(mut self, work: bool) -> Self {
        self.shown.over_work = work;
        self.shown.notes.extend(work.then(|| OVER_WORK.to_owned()));
        self
    }
}

/// The event of a way that was gone; `undo` is the state that the files were in before, `changed` how many were put
/// back.
pub fn rewind_event(way: &RewindPlan, undo: Option<String>, changed: u64) -> Rewind {
    Rewind {
        to: way.to,
        message_id: way.message_id,
        conversation: way.what.conversation(),
        files: way.rev.clone().filter(|_| undo.is_some()),
        undo,
        now: None,
        undoes: way.undoes,
        changed,
        deleted: 0,
        reverted: Vec::new(),
        over_others: false,
        by: None,
    }
}

/// What the model is told when files change under its conversation; nothing when both go back together, or it was told
/// so a moment ago.
pub fn told(way: &RewindPlan) -> Option<Message> {
    (way.what == RewindWhat::Files && !way.is_told).then(|| Message::neco(FILES_BACK))
}
