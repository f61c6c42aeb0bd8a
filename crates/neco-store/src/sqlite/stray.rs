//! Sessions of a damaged database whose rows can't be read, made again from their events.

use std::collections::HashSet;

use neco_proto::{Event, EventBody, Part, Role};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::blob;
use super::salvage::Found;

/// How many events at the beginning of a session are looked at for its folder, its parent and its first words.
const LOOKED_AT: i64 = 40;
/// Characters of the first message that make a title.
const TITLE: usize = 60;

/// The sessions that have events but are not among the `known` ones.
pub(super) async fn find(connection: &mut SqliteConnection, known: &HashSet<Uuid>) -> Vec<Found> {
    let mut strays = Vec::new();
    for id in ids(connection).await.difference(known) {
        strays.extend(from_events(connection, *id).await);
    }
    strays
}

/// All sessions that have events.
async fn ids(connection: &mut SqliteConnection) -> HashSet<Uuid> {
    let ids: Result<Vec<Uuid>, _> = sql!(query_scalar.fetch_all(connection), "SELECT DISTINCT session_id FROM events");
    ids.unwrap_or_default().into_iter().collect()
}

/// What the first events of a session say about it; `None` when they do not say where it begins.
async fn from_events(connection: &mut SqliteConnection, id: Uuid) -> Option<Found> {
    let mut events: Vec<Event> = Vec::new();
    let mut after = 0;
    // One by one: a damaged one must not hide those before it.
    for _ in 0..LOOKED_AT {
        let next: Result<Option<String>, _> = sql!(
            query_scalar.fetch_optional(&mut *connection),
            "SELECT body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT 1",
            (id, after)
        );
        let Ok(Some(body)) = next else { break };
        let contents = blob::contents(connection, &body).await.unwrap_or_default();
        let Some(event) = super::events::event_of(&body, &contents).ok() else { break };
        after = event.seq.cast_signed();
        events.push(event);
    }
    let last: i64 = sql!(query_scalar.fetch_one(connection), "SELECT max(seq) FROM events WHERE session_id = ?", (id))
        .unwrap_or(after);
    let first = events.first()?;
    let base = first.seq.cast_signed() - 1;
    let start = events.iter().find_map(|event| match &event.body {
        EventBody::SessionStart(start) => Some(start),
        _ => None,
    })?;
    let parent = start.forked_from.map(|fork| fork.session_id.as_uuid());
    if base > 0 && parent.is_none() {
        return None;
    }
    Some(Found {
        id,
        cwd: start.cwd.clone(),
        folder: None,
        title: title_of(&events),
        title_by: Some("first_words".to_owned()),
        created_ms: first.ts.as_millisecond(),
        updated_ms: events.last().map_or(0, |event| event.ts.as_millisecond()),
        last_seq: last,
        parent: parent.filter(|_| base > 0),
        base,
        is_removed: false,
    })
}

fn title_of(events: &[Event]) -> String {
    let said = events.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User => Some(message),
        _ => None,
    });
    let text = said.and_then(|message| match message.parts.first() {
        Some(Part::Text { text }) => text.lines().next(),
        Some(_) | None => None,
    });
    text.unwrap_or_default().chars().take(TITLE).collect()
}
