//! What windows were shown of a way back: a person agrees to what they have seen.

use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::event::RewindWhat;
use neco_proto::{MessageId, RewindPreview, Seq};
use neco_workspace::checkpoint::Agreed;

use crate::rewind::{Way, agreed_to};

/// The way that was shown last, and what of others' work it would overwrite.
#[derive(Clone, Default)]
pub(super) struct Shown {
    last: Arc<Mutex<Option<(Key, Agreed)>>>,
}

/// What tells one way back from another.
type Key = (MessageId, RewindWhat, Option<Seq>);

impl Shown {
    /// Notes that a window was shown `preview`.
    pub fn note(&self, way: &Way, preview: &RewindPreview) {
        self.swap(way, preview);
    }

    /// What was shown of this way before; notes what is shown of it now.
    pub fn swap(&self, way: &Way, preview: &RewindPreview) -> Agreed {
        let key = (way.message_id, way.what, way.undoes);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.replace((key, agreed_to(preview))) {
            Some((before, agreed)) if before == key => agreed,
            Some(_) | None => Agreed::Nothing,
        }
    }
}
