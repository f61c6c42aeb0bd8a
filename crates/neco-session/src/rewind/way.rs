//! One way back, and what it would do.

use neco_proto::event::{Rewind, RewindWhat};
use neco_proto::{Message, MessageId, RewindPoint, RewindPreview, Seq};

use super::course::Course;
use super::error::RewindError;

/// One way back.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
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
    /// What a person should know before.
    pub notes: Vec<String>,
}

impl Course {
    /// The way back to before the message at `point`.
    ///
    /// # Errors
    /// When only the files should go back and no state of theirs is known.
    pub fn way(&self, point: &RewindPoint, what: RewindWhat) -> Result<Way, RewindError> {
        let rev = if what.files() { self.files_at(point.seq) } else { None };
        if what == RewindWhat::Files && rev.is_none() {
            return Err(RewindError::NoCheckpoint);
        }
        let mut notes = Vec::new();
        if what == RewindWhat::Both && rev.is_none() {
            notes.push("no checkpoint is known from then, so files stay as they are".to_owned());
        }
        let to = point.seq.saturating_sub(1);
        let (messages, again) = if what.conversation() { self.difference(to) } else { Default::default() };
        Ok(Way {
            message_id: point.message_id,
            what,
            to,
            messages,
            again,
            rev: rev.map(str::to_owned),
            undoes: None,
            notes,
        })
    }

    /// The way to a state of the files that a person names; the conversation stays.
    #[must_use]
    pub fn way_to_state(&self, rev: &str) -> Way {
        Way {
            message_id: self.points.last().map_or_else(MessageId::new, |point| point.message_id),
            what: RewindWhat::Files,
            to: self.last_seq,
            messages: Vec::new(),
            again: Vec::new(),
            rev: Some(rev.to_owned()),
            undoes: None,
            notes: Vec::new(),
        }
    }

    /// The way that takes the last rewind back, or what one did that was cut short.
    ///
    /// # Errors
    /// When there is none.
    pub fn undo(&self) -> Result<Way, RewindError> {
        if let Some(rev) = &self.cut_short {
            let notes = vec!["the last rewind was cut short; this brings back what was there before it".to_owned()];
            return Ok(Way { notes, ..self.way_to_state(rev) });
        }
        let (seq, rewind) = self.last_rewind.as_ref().ok_or(RewindError::NothingToUndo)?;
        let what = match (rewind.conversation, rewind.undo.is_some()) {
            (true, true) => RewindWhat::Both,
            (true, false) => RewindWhat::Conversation,
            (false, _) => RewindWhat::Files,
        };
        let to = seq.saturating_sub(1);
        let (messages, again) = if rewind.conversation { self.difference(to) } else { Default::default() };
        Ok(Way {
            message_id: rewind.message_id,
            what,
            to,
            messages,
            again,
            rev: rewind.undo.clone(),
            undoes: Some(*seq),
            notes: Vec::new(),
        })
    }
}

impl Way {
    /// What it would do to the conversation; of the files nothing is known here.
    #[must_use]
    pub fn preview(&self) -> RewindPreview {
        RewindPreview {
            message_id: self.message_id,
            what: self.what,
            to: self.to,
            messages: self.messages.clone(),
            rev: self.rev.clone(),
            files: Vec::new(),
            notes: self.notes.clone(),
        }
    }
}

/// The event of a way that was gone; `undo` is the state that the files were in before.
#[must_use]
pub fn rewind_event(way: &Way, undo: Option<String>) -> Rewind {
    Rewind {
        to: way.to,
        message_id: way.message_id,
        conversation: way.what.conversation(),
        files: way.rev.clone().filter(|_| undo.is_some()),
        undo,
        undoes: way.undoes,
    }
}

/// What the model is told when files change under its conversation; nothing when both go back together.
#[must_use]
pub fn told(way: &Way) -> Option<Message> {
    (way.what == RewindWhat::Files).then(|| {
        Message::neco(
            "The user put the files of the workspace back into an earlier state. What you know of them may be out of \
             date: look before you rely on it.",
        )
    })
}
