//! What the loop waits for, when there is somebody it could come from.

use std::io;

use crossterm::event::{Event as TermEvent, EventStream as Keys};
use futures::StreamExt;
use neco_proto::{ClientError, Event, EventStream};

/// The next key; none comes while the terminal is somebody else's.
pub(super) async fn next_key(keys: &mut Option<Keys>) -> io::Result<TermEvent> {
    match keys {
        Some(stream) => match stream.next().await {
            Some(key) => key,
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nobody is at the keys")),
        },
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
