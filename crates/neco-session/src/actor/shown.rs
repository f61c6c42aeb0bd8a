//! What windows were shown of a way back: a person agrees to what they have seen.

use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::event::RewindWhat;
use neco_proto::{MessageId, RewindPreview, Seq};
use neco_workspace::checkpoint::Agreed;

use crate::rewind::{RewindHistory, RewindPlan, agreed_to};

/// The way that was shown last, and what of others' work, or of what may be theirs, it would overwrite.
#[derive(Clone, Default)]
pub(super) struct Shown {
    last: Arc<Mutex<Option<(Key, Agreed)>>>,
    /// The course of the session as it was read last.
    pub(super) course: Arc<tokio::sync::Mutex<Option<Arc<RewindHistory>>>>,
}

/// What tells one way back from another.
#[derive(PartialEq)]
struct Key {
    message: MessageId,
    what: RewindWhat,
    undoes: Option<Seq>,
    rev: Option<String>,
    /// What would no longer count: more may have been said since it was shown.
    messages: Vec<MessageId>,
}

impl Shown {
    /// Notes that a window was shown `preview`.
    pub fn note(&self, way: &RewindPlan, preview: &RewindPreview) {
        self.swap(way, preview);
    }

    /// What was shown of this way before, and how; notes what is shown of it now.
    pub fn swap(&self, way: &RewindPlan, preview: &RewindPreview) -> (Agreed, Look) {
        let key = || Key {
            message: way.message_id,
            what: way.what,
            undoes: way.undoes,
            rev: way.rev.clone(),
            messages: way.messages.iter().map(|point| point.message_id).collect(),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.replace((key(), agreed_to(preview))) {
            Some((before, agreed)) if before == key() => (agreed, Look::Same),
            Some((before, _)) if before.is_of(way) => (Agreed::Nothing, Look::Other),
            Some(_) | None => (Agreed::Nothing, Look::Never),
        }
    }
}

impl Key {
    /// Whether it is the same way, whatever would go with it.
    fn is_of(&self, way: &RewindPlan) -> bool {
        (self.message, self.what, self.undoes) == (way.message_id, way.what, way.undoes)
    }
}

/// What a window was shown of a way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// All that it does now.
    Same,
    /// Something else than it would do now.
    Other,
    /// Nothing.
    Never,
}
