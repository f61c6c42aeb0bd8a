//! A person who talks to a session and follows what happens.

use futures::StreamExt;
use neco_proto::{Client, ClientError, Command, Event, EventBody, Receipt, Seq};

/// Says something.
///
/// # Errors
/// When the session does not take it.
pub async fn say(session: &dyn Client, text: &str) -> Result<Receipt, ClientError> {
    session.send(Command::UserMessage { content: text.to_owned(), attachments: Vec::new() }).await
}

/// The events after `since` up to and including the first that is `last`; all of them when the session ends before.
///
/// # Errors
/// When the events end with one.
pub async fn until(
    session: &dyn Client,
    since: Seq,
    mut last: impl FnMut(&Event) -> bool,
) -> Result<Vec<Event>, ClientError> {
    let mut events = Vec::new();
    let mut stream = session.events(since);
    while let Some(event) = stream.next().await {
        let event = event?;
        let is_last = last(&event);
        events.push(event);
        if is_last {
            break;
        }
    }
    Ok(events)
}

/// Whether some work is done with an event.
pub fn is_complete(event: &Event) -> bool {
    matches!(event.body, EventBody::AgentComplete(_))
}
