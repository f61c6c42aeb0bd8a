//! A session, from asking for it to the last of what happened in it.

use std::sync::Arc;

use futures::StreamExt;
use neco_proto::{Answer, Client, Event, EventStream, Query, SessionSnapshot};

use crate::host::{Host, Wanted};

/// Events of before that are shown when a window opens. Pieces of answers are among them, and left out.
const LATELY: u64 = 2000;

/// A session that is ready to be shown.
pub(super) struct Opening {
    pub(super) client: Arc<dyn Client>,
    pub(super) snapshot: SessionSnapshot,
    /// What happened lately.
    pub(super) past: Vec<Event>,
    /// Whether more happened before that.
    pub(super) more: bool,
    /// What happens from now on.
    pub(super) events: EventStream,
}

/// Opens a session and reads what happened in it lately.
pub(super) async fn open(host: Arc<dyn Host>, wanted: Wanted) -> Result<Opening, String> {
    let client = host.open(wanted).await?;
    let snapshot = match client.ask(Query::Snapshot).await {
        Ok(Answer::Snapshot(snapshot)) => snapshot,
        Ok(_) => return Err("the session does not say how it stands".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    let since = snapshot.last_seq.saturating_sub(LATELY);
    let count = usize::try_from(snapshot.last_seq - since).unwrap_or_default();
    let mut lately = client.events(since).take(count);
    let mut past = Vec::new();
    while let Some(event) = lately.next().await {
        past.push(event.map_err(|error| error.to_string())?);
    }
    let events = client.events(snapshot.last_seq);
    Ok(Opening { client, snapshot, past, more: since > 0, events })
}
