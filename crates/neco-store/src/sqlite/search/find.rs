//! Finds what was asked for in an index that is up to date.

use std::collections::HashMap;

use neco_proto::app::sessions::FoundRole;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::entry::{LATE, number_at};
use crate::search::snippet::snippet_of;
use crate::search::terms::{Term, match_of};
use crate::search::text::text_of;
use crate::search::{SearchCursor, SearchHit, SearchQuery};
use crate::sqlite::blob;
use crate::sqlite::events::{Unreadable, event_of};

/// Most times that more is looked for in the place of what is not there any more.
const MOST_PAGES: usize = 20;

/// Titles first, then what was said; each the newest first.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    query: &SearchQuery,
    terms: &[Term],
) -> Result<Vec<SearchHit>, Unreadable> {
    let Some(asked) = match_of(terms) else { return Ok(Vec::new()) };
    let mut hits = titles(connection, query, terms, &asked).await?;
    let mut shown = HashMap::new();
    let mut before = match query.after.filter(|after| after.seq > 0) {
        Some(after) => Some(number_of(connection, after).await?),
        None => None,
    };
    // What is found in sessions that are gone takes nobody's place.
    for _ in 0..MOST_PAGES {
        let wanted = query.limit.saturating_sub(hits.len());
        let page = if wanted == 0 { Vec::new() } else { said(connection, query, &asked, before, wanted).await? };
        for place in &page {
            hits.extend(hit(connection, query, terms, place, &mut shown).await?);
        }
        match page.last().filter(|_| page.len() == wanted) {
            Some(last) => before = Some(last.number),
            None => break,
        }
    }
    Ok(hits)
}

/// A session as a hit shows it.
#[derive(Clone)]
struct Shown {
    id: Uuid,
    title: String,
    cwd: String,
    updated_ms: i64,
}

/// Where something was said.
struct Place {
    /// Its number in the index.
    number: i64,
    owner: Uuid,
    seq: i64,
    ts_ms: i64,
}

from_row!(Shown { id, title, cwd, updated_ms });

from_row!(Place { number, owner, seq, ts_ms });

/// A fork that is called as its parent is shows nothing that the parent does not.
async fn titles(
    connection: &mut SqliteConnection,
    query: &SearchQuery,
    terms: &[Term],
    asked: &str,
) -> Result<Vec<SearchHit>, sqlx::Error> {
    if query.after.is_some_and(|after| after.seq > 0) {
        return Ok(Vec::new());
    }
    let found: Vec<Shown> = sql!(
        query_as.fetch_all(connection),
        "SELECT sessions.id, sessions.title, sessions.cwd, updated_ms FROM titles
            JOIN indexed ON indexed.key = titles.rowid JOIN store.sessions ON sessions.id = indexed.id
            WHERE titles MATCH ?1 AND NOT is_removed AND (?2 IS NULL OR sessions.cwd = ?2)
              AND updated_ms >= ?3 AND updated_ms < ?4
              AND NOT EXISTS (SELECT 1 FROM store.sessions AS parent
                  WHERE parent.id = sessions.parent_id AND parent.title = sessions.title AND NOT parent.is_removed
                    AND (?2 IS NULL OR parent.cwd = ?2) AND parent.updated_ms >= ?3 AND parent.updated_ms < ?4)
              AND (?6 IS NULL OR (updated_ms, sessions.id) < (?6, ?7))
            ORDER BY updated_ms DESC, sessions.id DESC LIMIT ?5",
        (
            asked,
            query.cwd.as_deref(),
            query.since_ms.unwrap_or(i64::MIN),
            query.until_ms.unwrap_or(i64::MAX),
            i64::try_from(query.limit).unwrap_or(i64::MAX),
            query.after.map(|after| after.ts_ms),
            query.after.map(|after| after.session.as_uuid())
        )
    )?;
    Ok(found
        .into_iter()
        .map(|session| SearchHit {
            session: session.id.into(),
            seq: 0,
            ts_ms: session.updated_ms,
            role: FoundRole::Title,
            snippet: snippet_of(&session.title, terms),
            title: session.title,
            cwd: session.cwd,
            cursor: SearchCursor { ts_ms: session.updated_ms, session: session.id.into(), seq: 0 },
        })
        .collect())
}

/// The number of a hit; of one that is gone, the first after its second, so that nothing is passed over.
async fn number_of(connection: &mut SqliteConnection, hit: SearchCursor) -> Result<i64, sqlx::Error> {
    let number: Option<i64> = sql!(
        query_scalar.fetch_optional(connection),
        "SELECT number FROM said JOIN indexed ON indexed.key = said.session WHERE indexed.id = ? AND said.seq = ?",
        (hit.session.as_uuid(), hit.seq.cast_signed())
    )?;
    Ok(number.unwrap_or_else(|| number_at(hit.ts_ms.saturating_add(1000))))
}

async fn said(
    connection: &mut SqliteConnection,
    query: &SearchQuery,
    asked: &str,
    before: Option<i64>,
    limit: usize,
) -> Result<Vec<Place>, sqlx::Error> {
    let mut inherited = None;
    let asked = match &query.cwd {
        None => format!("text : ({asked})"),
        Some(cwd) => {
            let others = ancestors_elsewhere(connection, cwd).await?;
            let mut places: Vec<String> = Vec::new();
            for place in std::iter::once(cwd).chain(others.iter().map(|(_, cwd)| cwd)) {
                places.extend(place_of(connection, place).await?.map(|key| format!("p{key}")));
            }
            if places.is_empty() {
                return Ok(Vec::new());
            }
            let ids = others.iter().map(|(id, _)| id.simple().to_string());
            inherited = (!others.is_empty()).then(|| serde_json::Value::from_iter(ids).to_string());
            format!("place : ({}) AND text : ({asked})", places.join(" OR "))
        }
    };
    let (since, until) = (query.since_ms.unwrap_or(0), query.until_ms.unwrap_or(i64::MAX));
    let last = query.until_ms.map_or(i64::MAX, |until| number_at(until.saturating_add((LATE + 1) * 1000)));
    let last = before.map_or(last, |before| last.min(before.saturating_sub(1)));
    sql!(
        query_as.fetch_all(connection),
        "SELECT said.number, indexed.id AS owner, said.seq, said.ts_ms FROM words
            JOIN said ON said.number = words.rowid JOIN indexed ON indexed.key = said.session
            WHERE words MATCH ?1 AND words.rowid >= ?2 AND words.rowid <= ?3
              AND said.ts_ms >= ?4 AND said.ts_ms < ?5
              AND (?7 IS NULL OR indexed.id IN (SELECT unhex(value) FROM json_each(?7))
                  OR EXISTS (SELECT 1 FROM store.sessions WHERE id = indexed.id AND cwd = ?8))
            ORDER BY words.rowid DESC LIMIT ?6",
        (
            asked,
            number_at(since),
            last,
            since,
            until,
            i64::try_from(limit).unwrap_or(i64::MAX),
            inherited,
            query.cwd.as_deref()
        )
    )
}

/// The sessions of other folders that forks in the folder `cwd` have something from, and their folders.
async fn ancestors_elsewhere(connection: &mut SqliteConnection, cwd: &str) -> Result<Vec<(Uuid, String)>, sqlx::Error> {
    sql!(
        query_as.fetch_all(connection),
        "WITH RECURSIVE line (id) AS (
             SELECT parent_id FROM store.sessions WHERE parent_id IS NOT NULL AND cwd = ?1 AND NOT is_removed
             UNION
             SELECT parent_id FROM line JOIN store.sessions ON sessions.id = line.id WHERE parent_id IS NOT NULL
         ) SELECT sessions.id, cwd FROM line JOIN store.sessions ON sessions.id = line.id WHERE cwd <> ?1",
        (cwd)
    )
}

async fn place_of(connection: &mut SqliteConnection, cwd: &str) -> Result<Option<i64>, sqlx::Error> {
    sql!(query_scalar.fetch_optional(connection), "SELECT key FROM places WHERE cwd = ?", (cwd))
}

/// The hit as a person sees it; `None` when there is no session left to see it in.
async fn hit(
    connection: &mut SqliteConnection,
    query: &SearchQuery,
    terms: &[Term],
    place: &Place,
    shown: &mut HashMap<Uuid, Shown>,
) -> Result<Option<SearchHit>, Unreadable> {
    let session = match shown.get(&place.owner) {
        Some(session) => session.clone(),
        None => {
            let Some(session) = shown_as(connection, query, place).await? else { return Ok(None) };
            // Whether a fork shows it depends on where it was said.
            if session.id == place.owner {
                shown.insert(place.owner, session.clone());
            }
            session
        }
    };
    let body: Option<String> = sql!(
        query_scalar.fetch_optional(&mut *connection),
        "SELECT body FROM store.events WHERE session_id = ? AND seq = ?",
        (place.owner, place.seq)
    )?;
    let Some(body) = body else { return Ok(None) };
    let contents = blob::contents(connection, &body).await?;
    let Some((role, text)) = text_of(&event_of(&body, &contents)?.body) else { return Ok(None) };
    Ok(Some(SearchHit {
        session: session.id.into(),
        seq: place.seq.cast_unsigned(),
        ts_ms: place.ts_ms,
        role,
        snippet: snippet_of(&text, terms),
        title: session.title,
        cwd: session.cwd,
        cursor: SearchCursor { ts_ms: place.ts_ms, session: place.owner.into(), seq: place.seq.cast_unsigned() },
    }))
}

/// The session itself, or the fork that was used last of those that have the event from it: where it was removed, or
/// works in another folder than the one that is searched.
async fn shown_as(
    connection: &mut SqliteConnection,
    query: &SearchQuery,
    place: &Place,
) -> Result<Option<Shown>, sqlx::Error> {
    sql!(
        query_as.fetch_optional(connection),
        "WITH RECURSIVE line (id, fits) AS (
             SELECT id, NOT is_removed AND (?3 IS NULL OR cwd = ?3) FROM store.sessions WHERE id = ?1
             UNION ALL
             SELECT sessions.id, NOT is_removed AND (?3 IS NULL OR cwd = ?3)
                 FROM line JOIN store.sessions ON parent_id = line.id WHERE NOT line.fits AND parent_seq >= ?2
         ) SELECT sessions.id, title, cwd, updated_ms FROM line JOIN store.sessions ON sessions.id = line.id
            WHERE line.fits ORDER BY updated_ms DESC, sessions.id DESC LIMIT 1",
        (place.owner, place.seq, query.cwd.as_deref())
    )
}
