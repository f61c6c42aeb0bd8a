//! Takes over what was found in a damaged database.
//!
//! A session is taken over from its first event up to the first one that can't be read, so its log has no
//! gap. A big string that is lost is replaced by words that say so.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neco_proto::{Event, EventBody, Part, Role};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use uuid::Uuid;

use super::transaction::insert_raw;
use super::{blob, failure};

/// How many events are read at a time.
const PAGE: i64 = 64;

/// What was taken over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Salvaged {
    pub(super) whole: u64,
    /// The sessions that end where they are damaged.
    pub(super) cut: Vec<String>,
    /// Those of which nothing is left.
    pub(super) lost: Vec<String>,
}

/// A session of the damaged database.
pub(super) struct Found {
    pub(super) id: Uuid,
    pub(super) cwd: String,
    pub(super) folder: Option<String>,
    pub(super) title: String,
    pub(super) title_by: Option<String>,
    pub(super) created_ms: i64,
    pub(super) updated_ms: i64,
    pub(super) last_seq: i64,
    pub(super) parent: Option<Uuid>,
    pub(super) base: i64,
    pub(super) is_removed: bool,
    pub(super) is_single: bool,
}

impl Found {
    /// What a person knows it by; nothing when it was removed.
    fn name(&self) -> Option<String> {
        let id = self.id.to_string();
        let id = id.get(..18).unwrap_or(&id);
        let title: String = self.title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(40).collect();
        let named = if title.is_empty() { id.to_owned() } else { format!("{id} {title}") };
        (!self.is_removed).then_some(named)
    }
}

from_row!(Found { id, cwd, folder, title, title_by, created_ms, updated_ms, last_seq, parent = parent_id, base = parent_seq, is_removed, is_single });

/// Copies what was found, which lies in the database `from`. A session that can't be copied is lost, unless there is no
/// room for it: then nothing is.
pub(super) async fn salvage(from: &Path, to: &mut SqliteConnection) -> Result<Salvaged, sqlx::Error> {
    let mut salvaged = Salvaged::default();
    let mut from = SqliteConnectOptions::new().filename(from).disable_statement_logging().connect().await?;
    // Where each session that was taken over ends, so that forks know what is left of their parents.
    let mut ends: HashMap<Uuid, i64> = HashMap::new();
    for session in parents_first(sessions(&mut from).await?) {
        match copy(&mut from, to, &session, &ends).await {
            Ok(Some(last)) => {
                ends.insert(session.id, last);
                match last == session.last_seq {
                    true => salvaged.whole += u64::from(!session.is_removed),
                    false => salvaged.cut.extend(session.name()),
                }
            }
            Ok(None) => salvaged.lost.extend(session.name()),
            Err(error) if failure::is_full(&failure::plain(&error)) => return Err(error),
            Err(error) => {
                tracing::warn!(%error, session = %session.id, "not taken over from the damaged store");
                let _ = sql!(query.execute(&mut *to), "ROLLBACK");
                salvaged.lost.extend(session.name());
            }
        }
    }
    from.close().await?;
    Ok(salvaged)
}

/// All sessions, those included of which only events are left.
async fn sessions(connection: &mut SqliteConnection) -> Result<Vec<Found>, sqlx::Error> {
    let mut found: Vec<Found> = sql!(query_as.fetch_all(&mut *connection), "SELECT * FROM sessions")?;
    // A row may be older than the events, which are the truth.
    for session in found.iter_mut().filter(|session| !session.is_removed) {
        let last: Option<i64> = sql!(
            query_scalar.fetch_one(&mut *connection),
            "SELECT max(seq) FROM events WHERE session_id = ?",
            (session.id)
        )?;
        session.last_seq = session.last_seq.max(last.unwrap_or(0));
    }
    let known: HashSet<Uuid> = found.iter().map(|session| session.id).collect();
    found.extend(find(connection, &known).await);
    Ok(found)
}

/// A parent is older than its forks.
fn parents_first(mut sessions: Vec<Found>) -> Vec<Found> {
    let parents: HashMap<Uuid, Option<Uuid>> = sessions.iter().map(|session| (session.id, session.parent)).collect();
    let depth = |session: &Found| {
        let line = std::iter::successors(session.parent, |parent| parents.get(parent).copied().flatten());
        line.take(parents.len()).count()
    };
    sessions.sort_by_key(|session| (depth(session), session.id));
    sessions
}

/// Copies one session and says where it ends now; `None` when nothing of it is left.
async fn copy(
    from: &mut SqliteConnection,
    to: &mut SqliteConnection,
    session: &Found,
    ends: &HashMap<Uuid, i64>,
) -> Result<Option<i64>, sqlx::Error> {
    let base = match session.parent.map(|parent| ends.get(&parent)) {
        None => 0,
        Some(Some(end)) => session.base.min(*end),
        Some(None) => return Ok(None),
    };
    sql!(query.execute(&mut *to), "BEGIN IMMEDIATE")?;
    // What came after a gap in the parent's part can't be kept.
    let last =
        if base == session.base { copy_events(from, to, session.id, base, session.last_seq).await? } else { base };
    if last == 0 && session.last_seq > 0 {
        sql!(query.execute(to), "ROLLBACK")?;
        return Ok(None);
    }
    sql!(query.execute(&mut *to), "INSERT INTO sessions (id, cwd, folder, title, title_by, created_ms, updated_ms, last_seq, parent_id, parent_seq,
            is_removed, is_single) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (session.id, session.cwd.as_str(), session.folder.as_deref(), session.title.as_str(), session.title_by.as_deref(), session.created_ms, session.updated_ms, last, session.parent, base, session.is_removed, session.is_single))?;
    sql!(query.execute(to), "COMMIT")?;
    Ok(Some(last))
}

/// Copies the events after `after` up to the first one that can't be read, and says which one was the last.
async fn copy_events(
    from: &mut SqliteConnection,
    to: &mut SqliteConnection,
    session: Uuid,
    after: i64,
    end: i64,
) -> Result<i64, sqlx::Error> {
    let mut last = after;
    while last < end {
        let page: Vec<(i64, String, String)> = sql!(
            query_as.fetch_all(&mut *from),
            "SELECT seq, kind, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (session, last, PAGE)
        )?;
        if page.is_empty() {
            break;
        }
        for (seq, kind, body) in page {
            let whole = with_contents(from, &body).await;
            if seq != last + 1 || seq > end || serde_json::from_str::<Event>(&whole).is_err() {
                return Ok(last);
            }
            insert_raw(to, session, seq, &kind, &whole).await?;
            last = seq;
        }
    }
    Ok(last)
}

async fn with_contents(from: &mut SqliteConnection, body: &str) -> String {
    let mut contents = HashMap::new();
    for hash in blob::hashes_in(body) {
        // One by one: a damaged one must not hide the others.
        let read = blob::contents(from, &format!("\u{1}{hash}")).await.unwrap_or_default();
        contents.extend(read);
    }
    blob::put_back(body, &contents).into_owned()
}

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
        is_single: false,
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
