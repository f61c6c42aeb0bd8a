//! One way back, and what it would do.

use neco_proto::event::{Rewind, RewindWhat};
use neco_proto::{Message, MessageId, RewindKind, RewindPoint, RewindPreview, Seq};
use neco_workspace::checkpoint::Unfinished;

use super::error::RewindError;
use super::history::{Gone, RewindHistory};

/// What the model is told when only files went back.
const FILES_BACK: &str = "The user put the files of the workspace back into an earlier state. What you know of them may \
                          be out of date: look before you rely on it.";

/// What a person is told before an undo is taken back.
const TAKES_UNDO_BACK: &str = "this takes an undo back";

/// What a person is told before what was done since goes too.
const OVER_WORK: &str = "files were worked on since: what was done to them goes too";

/// One way back.
#[derive(Clone, Debug, PartialEq)]
pub struct RewindPlan {
    /// What is gone back to.
    pub kind: RewindKind,
    /// The first words of the message, or what was going on when the state was kept.
    pub about: String,
    /// The moment that is gone back to, in milliseconds since 1970.
    pub since_ms: i64,
    /// Whether it goes over work on files that was done since the rewind that it takes back.
    pub over_work: bool,
    /// The message that it goes back to before.
    pub message_id: MessageId,
    /// What goes back.
    pub what: RewindWhat,
    /// The last event that still counts then.
    pub to: Seq,
    /// The messages of the person that no longer count then.
    pub messages: Vec<RewindPoint>,
    /// Those that count again then.
    pub again: Vec<RewindPoint>,
    /// The state that the files are put into; `None` when they stay as they are.
    pub rev: Option<String>,
    /// The rewind that this one takes back.
    pub undoes: Option<Seq>,
    /// Whether a person named the state of the files, and no message.
    pub is_named: bool,
    /// Work that was cut short: what it changed is the session's own.
    pub unfinished: Vec<Unfinished>,
    /// Whether it brings back what was there before a rewind that was cut short.
    pub is_mending: bool,
    /// Whether the model knows already that files were put back.
    pub is_told: bool,
    /// What a person should know before.
    pub notes: Vec<String>,
}

impl RewindHistory {
    /// The way back to before the message at `point`.
    ///
    /// # Errors
    /// When only the files should go back and no state of theirs is known.
    pub fn way(&self, point: &RewindPoint, what: RewindWhat) -> Result<RewindPlan, RewindError> {
        let rev = if what.files() { self.files_at(point.seq) } else { None };
        if what == RewindWhat::Files && rev.is_none() {
            return Err(RewindError::NoCheckpoint);
        }
        let mut notes = Vec::new();
        if what == RewindWhat::Both && rev.is_none() {
            notes.push(match self.changed_nothing() {
                true => "the session changed no files, so they stay as they are".to_owned(),
                false => "no checkpoint is known from then, so files stay as they are".to_owned(),
            });
        }
        let to = point.seq.saturating_sub(1);
        let (messages, again) = if what.conversation() { self.difference(to) } else { Default::default() };
        Ok(RewindPlan {
            kind: RewindKind::Message,
            about: point.text.clone(),
            since_ms: point.ts.as_millisecond(),
            over_work: false,
            message_id: point.message_id,
            what,
            to,
            messages,
            again,
            rev: rev.map(str::to_owned),
            undoes: None,
            is_named: false,
            unfinished: self.unfinished.clone(),
            is_mending: false,
            is_told: self.told,
            notes,
        })
    }

    /// The way to a state of the files that a person names; the conversation stays.
    #[must_use]
    pub fn way_to_state(&self, rev: &str) -> RewindPlan {
        let kept = self.kept(rev);
        RewindPlan {
            kind: RewindKind::Checkpoint,
            about: kept.map(|kept| kept.checkpoint.label.clone()).unwrap_or_default(),
            since_ms: kept.map_or(i64::MAX, |kept| kept.ts.as_millisecond()),
            over_work: false,
            message_id: self.points.last().map_or_else(MessageId::new, |point| point.message_id),
            what: RewindWhat::Files,
            to: self.last_seq,
            messages: Vec::new(),
            again: Vec::new(),
            rev: Some(rev.to_owned()),
            undoes: None,
            is_named: true,
            unfinished: self.unfinished.clone(),
            is_mending: false,
            is_told: self.told,
            notes: Vec::new(),
        }
    }

    /// The way that takes the last rewind back that holds, or what one did that was cut short. When every rewind was
    /// taken back already, it takes the last of those back.
    ///
    /// # Errors
    /// When there is none.
    pub fn undo(&self) -> Result<RewindPlan, RewindError> {
        if let Some(before) = &self.cut_short {
            let notes = vec!["the last rewind was cut short; this brings back what was there before it".to_owned()];
            let way = self.way_to_state(&before.checkpoint.rev);
            let over_work = self.worked_since(before.seq);
            let notes = notes.into_iter().chain(over_work.then(|| OVER_WORK.to_owned())).collect();
            return Ok(RewindPlan {
                kind: RewindKind::Undo,
                notes,
                over_work,
                is_named: false,
                is_mending: true,
                ..way
            });
        }
        match self.rewound.last() {
            Some(gone) => Ok(self.taking_back(gone)),
            None => self.redo().map_err(|_| RewindError::NothingToUndo),
        }
    }

    /// The way that brings the rewind back that was taken back last.
    ///
    /// # Errors
    /// When there is none.
    pub fn redo(&self) -> Result<RewindPlan, RewindError> {
        let way = self.taking_back(self.undone.last().ok_or(RewindError::NothingToRedo)?);
        let notes = std::iter::once(TAKES_UNDO_BACK.to_owned()).chain(way.notes).collect();
        Ok(RewindPlan { kind: RewindKind::Redo, notes, ..way })
    }

    fn taking_back(&self, Gone { seq, ms, rewind }: &Gone) -> RewindPlan {
        let seq = *seq;
        let what = match (rewind.conversation, rewind.undo.is_some()) {
            (true, true) => RewindWhat::Both,
            (true, false) => RewindWhat::Conversation,
            (false, _) => RewindWhat::Files,
        };
        let to = seq.saturating_sub(1);
        let (messages, again) = if rewind.conversation { self.difference(to) } else { Default::default() };
        let over_work = what.files() && self.worked_since(seq);
        let notes = over_work.then(|| OVER_WORK.to_owned()).into_iter().collect();
        RewindPlan {
            kind: RewindKind::Undo,
            about: self.words(rewind.message_id),
            since_ms: *ms,
            over_work,
            message_id: rewind.message_id,
            what,
            to,
            messages,
            again,
            rev: rewind.undo.clone(),
            undoes: Some(seq),
            is_named: false,
            unfinished: self.unfinished.clone(),
            is_mending: false,
            is_told: self.told,
            notes,
        }
    }
}

impl RewindPlan {
    /// Whether there is nothing to do, as `preview` shows it. What takes something back is done all the same: what was
    /// taken back before is in its way otherwise.
    #[must_use]
    pub fn is_nothing(&self, preview: &RewindPreview) -> bool {
        let takes_back = self.undoes.is_some() || self.is_mending;
        !takes_back && self.messages.is_empty() && self.again.is_empty() && preview.files.is_empty()
    }

    /// What it would do to the conversation; of the files nothing is known here.
    #[must_use]
    pub fn preview(&self) -> RewindPreview {
        RewindPreview {
            kind: self.kind,
            about: self.about.clone(),
            message_id: self.message_id,
            what: self.what,
            to: self.to,
            messages: self.messages.clone(),
            again: self.again.clone(),
            rev: self.rev.clone(),
            files: Vec::new(),
            notes: self.notes.clone(),
        }
    }
}

/// The event of a way that was gone; `undo` is the state that the files were in before, `changed` how many were put
/// back.
#[must_use]
pub fn rewind_event(way: &RewindPlan, undo: Option<String>, changed: u64) -> Rewind {
    Rewind {
        to: way.to,
        message_id: way.message_id,
        conversation: way.what.conversation(),
        files: way.rev.clone().filter(|_| undo.is_some()),
        undo,
        undoes: way.undoes,
        changed,
        by: None,
    }
}

/// What the model is told when files change under its conversation; nothing when both go back together, or it was told
/// so a moment ago.
#[must_use]
pub fn told(way: &RewindPlan) -> Option<Message> {
    (way.what == RewindWhat::Files && !way.is_told).then(|| Message::neco(FILES_BACK))
}
