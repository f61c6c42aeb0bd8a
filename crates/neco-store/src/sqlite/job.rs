//! What the writer is asked to do.

use std::sync::Arc;

use neco_proto::event::TitleSource;
use neco_proto::{Event, EventBody, Seq, SessionId};
use tokio::sync::oneshot;

use crate::catalog::SessionRecord;
use crate::error::StoreError;
use crate::said::Change;

/// Where the outcome goes.
pub(super) type Reply = oneshot::Sender<Result<(), StoreError>>;

/// What the writer is asked to do.
pub(super) enum Job {
    /// Begin the write-ahead log: the first write comes soon.
    Begin,
    Append(Batch),
    Catalog(CatalogChange, Reply),
    /// Remove a session where there is next to no room, bit by bit.
    RemoveInLittleRoom(SessionId, Reply),
    /// Write what waits, then give the room of what was removed back to the system.
    Shrink(Reply),
    Flush(Reply),
    /// Write what waits and close the database.
    Close(Reply),
}

pub(super) enum CatalogChange {
    /// Add a session.
    Create(SessionRecord),
    /// Add one that begins as another one does.
    Fork {
        record: SessionRecord,
        /// The other one.
        parent: SessionId,
        /// The last event that both have.
        at: Seq,
    },
    /// Give it another title.
    SetTitle { session: SessionId, title: String, by: TitleSource },
    /// Its workspace lies elsewhere.
    SetFolder {
        session: SessionId,
        cwd: String,
        /// What the folder is, wherever it lies.
        folder: Option<String>,
    },
    /// So many messages of the person count in it up to the event `upto`, which is its last one.
    SetMessages { session: SessionId, messages: u64, upto: Seq },
    /// Remove it, but for what its forks need.
    Remove(SessionId),
}

impl CatalogChange {
    /// Whether the change means nothing without the event that follows it, and so is on the disk with that one. A
    /// session without events is none, and the first words are a title only of what was said.
    pub(super) fn waits_for_events(&self) -> bool {
        match self {
            Self::Create(_) | Self::SetTitle { by: TitleSource::FirstWords, .. } => true,
            Self::Fork { .. }
            | Self::SetTitle { .. }
            | Self::SetFolder { .. }
            | Self::SetMessages { .. }
            | Self::Remove(_) => false,
        }
    }
}

/// Events of one session that were appended together.
pub(super) struct Batch {
    pub(super) session: SessionId,
    pub(super) rows: Vec<Row>,
    pub(super) first: Seq,
    pub(super) last: Seq,
    /// The latest time among the events that are a use of the session.
    pub(super) updated_ms: i64,
    /// What the events change of what else is known of the session.
    pub(super) change: Change,
    /// Whether nobody acts on any of them: they only show how the work goes on.
    pub(super) is_passing: bool,
    /// Whoever waits for the disk; nobody for what is to be written soon.
    pub(super) reply: Option<Reply>,
    /// What those who follow are shown when it is on the disk. What is to be written soon they are shown at once.
    pub(super) shown: Box<[Event]>,
}

/// One event as the database keeps it.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) seq: Seq,
    pub(super) kind: Arc<str>,
    pub(super) body: Arc<str>,
}

impl Batch {
    /// The rows of `events`; `None` when there are none.
    pub(super) fn of(events: &[Event]) -> Result<Option<Self>, StoreError> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(None) };
        let session = first.session_id;
        let mut rows = Vec::with_capacity(events.len());
        for (event, offset) in events.iter().zip(0..) {
            let expected = first.seq.saturating_add(offset);
            if event.seq != expected {
                return Err(StoreError::Gap { session, expected, got: event.seq });
            }
            rows.push(Row::of(event)?);
        }
        // Giving it another title is no use of a session.
        let uses = events.iter().filter(|event| !matches!(event.body, EventBody::Title(_)));
        let updated_ms = uses.map(|event| event.ts.as_millisecond()).max().unwrap_or_default();
        Ok(Some(Self {
            session,
            rows,
            first: first.seq,
            last: last.seq,
            updated_ms,
            change: Change::of(events),
            is_passing: events.iter().all(|event| event.body.is_passing()),
            reply: None,
            shown: Box::default(),
        }))
    }

    /// How much memory the events take, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(|row| row.body.len() + size_of::<Row>()).sum()
    }
}

impl Row {
    fn of(event: &Event) -> Result<Self, StoreError> {
        let body = serde_json::to_string(event).map_err(|error| StoreError::Write(error.to_string()))?;
        Ok(Self { seq: event.seq, kind: event.body.type_name().into(), body: body.into() })
    }
}
