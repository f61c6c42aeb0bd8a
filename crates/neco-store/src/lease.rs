//! The right to write one session.

use std::fmt;

use neco_proto::{Event, SessionId};

use crate::error::StoreError;

/// The right to write one session, which one owner has at a time; given back when it is dropped.
///
/// What stands behind it is the store's own: a lock that the kernel keeps, or a row with a number that only grows.
pub struct Lease {
    session: SessionId,
    _held: Box<dyn Send + Sync>,
}

impl Lease {
    /// The right to write `session`, for as long as `held` lives.
    pub(crate) fn new(session: SessionId, held: impl Send + Sync + 'static) -> Self {
        Self { session, _held: Box::new(held) }
    }

    /// The session that may be written.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Refuses events of other sessions.
    pub(crate) fn check(&self, events: &[Event]) -> Result<(), StoreError> {
        match events.iter().find(|event| event.session_id != self.session) {
            Some(event) => Err(StoreError::NotLeased { session: event.session_id }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("session", &self.session).finish_non_exhaustive()
    }
}
