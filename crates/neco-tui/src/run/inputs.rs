//! What the loop waits for, when there is somebody it could come from.

use std::io;

use futures::StreamExt;
use neco_proto::{ClientError, Event, EventStream};

use crate::term::Keys;
use crate::term::keys::Came;

/// What comes from the terminal; nothing does while it is somebody else's.
pub(super) async fn next_key(keys: &mut Option<Keys>) -> io::Result<Came> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// The next event; none comes before there is a session.
pub(super) async fn next_event(events: &mut Option<EventStream>) -> Option<Result<Event, ClientError>> {
    match events {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}
