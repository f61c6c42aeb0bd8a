//! Reading the events of a session: through its parents, with big strings put back.

use std::collections::HashMap;

use neco_proto::{Event, Seq, SessionId};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::blob::{self, Hash};
use crate::lineage::{Ancestor, Segment, segments};

/// How many events are fetched at a time.
const PAGE: usize = 256;
/// Most forks of forks that are followed; a database that says more of them turns in a circle.
const MOST_ANCESTORS: i64 = 100_000;

/// Why events could not be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// The database does not answer.
    Sql(sqlx::Error),
    /// What it answers is no event.
    Event(String),
    /// What it answers is no text that anybody has written.
    Broken(String),
    /// An event that should be there is not.
    Missing(Seq),
}

impl From<sqlx::Error> for Unreadable {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

/// Events of one owner, with the contents of their blobs.
struct Page {
    /// Events as lines.
    bodies: String,
    contents: HashMap<Hash, String>,
}

/// The events of `session` after `since`. `ancestors` begins with the session itself.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    ancestors: &[Ancestor],
    session: SessionId,
    since: Seq,
    limit: usize,
) -> Result<Vec<Event>, Unreadable> {
    let mut events: Vec<Event> = Vec::new();
    let mut last = since;
    for segment in segments(ancestors, since) {
        if events.len() < limit && segment.after > last {
            // The session that these were taken from ended before, or is gone.
            return Err(Unreadable::Missing(last + 1));
        }
        let mut rest = segment;
        while events.len() < limit {
            let Some(page) = page(connection, rest, PAGE.min(limit - events.len())).await? else { break };
            for body in page.bodies.split('\n') {
                let mut event = event_of(body, &page.contents)?;
                if event.seq != rest.after + 1 {
                    return Err(Unreadable::Missing(rest.after + 1));
                }
                rest.after = event.seq;
                last = event.seq;
                event.session_id = session;
                events.push(event);
            }
        }
    }
    Ok(events)
}

/// The first event up to `last`, all messages and all rewinds.
pub(super) async fn messages(
    connection: &mut SqliteConnection,
    ancestors: &[Ancestor],
    last: Seq,
) -> Result<Vec<Event>, Unreadable> {
    let mut events = Vec::new();
    for segment in segments(ancestors, 0) {
        let bodies: Vec<String> = sql!(
            query_scalar.fetch_all(&mut *connection),
            "SELECT body FROM events WHERE session_id = ? AND seq > ? AND seq <= ?
                AND (kind IN ('message', 'rewind') OR seq = 1) ORDER BY seq",
            (segment.owner.as_uuid(), sql_number(segment.after), sql_number(segment.last.min(last)))
        )?;
        for body in bodies {
            // Who speaks stands in the event itself or at the beginning of what is said.
            let contents = blob::contents(connection, &body).await?;
            events.push(event_of(&body, &contents)?);
        }
    }
    Ok(events)
}

/// The events of some kinds that a session has of its own, after `since`.
pub(super) async fn of_kinds(
    connection: &mut SqliteConnection,
    session: SessionId,
    since: Seq,
    kinds: &[&str],
) -> Result<Vec<Event>, Unreadable> {
    let bodies: Vec<String> = sql!(
        query_scalar.fetch_all(&mut *connection),
        "SELECT body FROM events WHERE session_id = ? AND seq > ? AND kind IN (SELECT value FROM json_each(?))
            ORDER BY seq",
        (session.as_uuid(), sql_number(since), serde_json::json!(kinds).to_string())
    )?;
    let mut events = Vec::new();
    for body in bodies {
        let contents = blob::contents(connection, &body).await?;
        events.push(event_of(&body, &contents)?);
    }
    Ok(events)
}

/// The session and those that it is a fork of; empty when the catalogue does not have it.
pub(super) async fn ancestors(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Vec<Ancestor>, sqlx::Error> {
    let rows: Vec<(Uuid, i64)> = sql!(query_as.fetch_all(connection), "WITH RECURSIVE line (id, base, parent, depth) AS (
             SELECT id, parent_seq, parent_id, 0 FROM sessions WHERE id = ? AND NOT is_removed
             UNION ALL
             SELECT sessions.id, parent_seq, parent_id, depth + 1 FROM line JOIN sessions ON sessions.id = parent LIMIT ?
         ) SELECT id, base FROM line ORDER BY depth", (session.as_uuid(), MOST_ANCESTORS))?;
    Ok(rows.into_iter().map(|(id, base)| Ancestor { id: id.into(), base: base.cast_unsigned() }).collect())
}

/// The next events of a segment; `None` when there are none. A page costs about what a row costs.
async fn page(connection: &mut SqliteConnection, segment: Segment, limit: usize) -> Result<Option<Page>, sqlx::Error> {
    let bodies: Option<String> = sql!(
        query_scalar.fetch_one(&mut *connection),
        "SELECT group_concat(body, char(10) ORDER BY seq) FROM
            (SELECT seq, body FROM events WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)",
        (
            segment.owner.as_uuid(),
            sql_number(segment.after),
            sql_number(segment.last),
            i64::try_from(limit).unwrap_or(i64::MAX)
        )
    )?;
    let Some(bodies) = bodies else { return Ok(None) };
    let contents = blob::contents(connection, &bodies).await?;
    Ok(Some(Page { bodies, contents }))
}

/// One event from its JSON, with what was cut out of it.
pub(super) fn event_of(body: &str, contents: &HashMap<Hash, String>) -> Result<Event, Unreadable> {
    // A part that is lost must not take the whole session with it.
    let whole = blob::put_back(body, contents);
    Event::from_json(&whole).map_err(|error| {
        let reason = format!("an event is not readable: {error}");
        // Of another version it is well written all the same.
        if error.is_data() { Unreadable::Event(reason) } else { Unreadable::Broken(reason) }
    })
}

/// A number as SQLite has them.
pub(super) fn sql_number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
