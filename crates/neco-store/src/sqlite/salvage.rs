//! Takes over what can still be read of a damaged database.
//!
//! A session is taken over from its first event up to the first one that can't be read, so its log has no
//! gap. A big string that is lost is replaced by words that say so.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, FromRow, Row as _, SqliteConnection};
use uuid::Uuid;

use super::transaction::insert_raw;
use super::{blob, stray};

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

impl FromRow<'_, SqliteRow> for Found {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.try_get("id")?,
            cwd: row.try_get("cwd")?,
            folder: row.try_get("folder")?,
            title: row.try_get("title")?,
            title_by: row.try_get("title_by")?,
            created_ms: row.try_get("created_ms")?,
            updated_ms: row.try_get("updated_ms")?,
            last_seq: row.try_get("last_seq")?,
            parent: row.try_get("parent_id")?,
            base: row.try_get("parent_seq")?,
            is_removed: row.try_get("is_removed")?,
        })
    }
}

/// Copies what is readable in the file `from`. A failure to do so is no error: the file stays where it is.
pub(super) async fn salvage(from: &Path, to: &mut SqliteConnection) -> Salvaged {
    let mut salvaged = Salvaged::default();
    let options = SqliteConnectOptions::new().filename(from).read_only(true).disable_statement_logging();
    // Without this nothing at all is read of a file that is shorter than its head says. Nothing is written here.
    let Ok(mut from) = options.pragma("writable_schema", "ON").connect().await else { return salvaged };
    // Where each session that was taken over ends, so that forks know what is left of their parents.
    let mut ends: HashMap<Uuid, i64> = HashMap::new();
    for session in parents_first(sessions(&mut from).await) {
        match copy(&mut from, to, &session, &ends).await {
            Ok(Some(last)) => {
                ends.insert(session.id, last);
                match last == session.last_seq {
                    true => salvaged.whole += u64::from(!session.is_removed),
                    false => salvaged.cut.extend(session.name()),
                }
            }
            Ok(None) => salvaged.lost.extend(session.name()),
            Err(error) => {
                tracing::warn!(%error, session = %session.id, "not taken over from the damaged store");
                let _ = sqlx::query("ROLLBACK").execute(&mut *to).await;
                salvaged.lost.extend(session.name());
            }
        }
    }
    let _ = from.close().await;
    salvaged
}

/// All sessions that can be read, whatever version of the tables they are in: a head that is gone does not say.
async fn sessions(connection: &mut SqliteConnection) -> Vec<Found> {
    let first = "NULL AS folder, NULL AS title_by, NULL AS parent_id, 0 AS parent_seq, 0 AS is_removed";
    let mut found = rows(connection, "folder, title_by, parent_id, parent_seq, is_removed").await;
    if found.is_empty() {
        found = rows(connection, first).await;
    }
    let known: HashSet<Uuid> = found.keys().copied().collect();
    found.into_values().chain(stray::find(connection, &known).await).collect()
}

/// From both ends of the table: damage in the middle hides only itself.
async fn rows(connection: &mut SqliteConnection, newer: &str) -> HashMap<Uuid, Found> {
    let mut found: HashMap<Uuid, Found> = HashMap::new();
    for (compare, order, start) in [(">", "ASC", Uuid::nil()), ("<", "DESC", Uuid::max())] {
        let sql = format!(
            "SELECT id, cwd, title, created_ms, updated_ms, last_seq, {newer} FROM sessions
                WHERE id {compare} ? ORDER BY id {order} LIMIT 1"
        );
        let mut last = start;
        loop {
            let next: Result<Option<Found>, _> =
                sqlx::query_as(AssertSqlSafe(sql.clone())).bind(last).fetch_optional(&mut *connection).await;
            let Ok(Some(session)) = next else { break };
            last = session.id;
            if found.insert(session.id, session).is_some() {
                break;
            }
        }
    }
    found
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
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *to).await?;
    // What came after a gap in the parent's part can't be kept.
    let last =
        if base == session.base { copy_events(from, to, session.id, base, session.last_seq).await? } else { base };
    if last == 0 && session.last_seq > 0 {
        sqlx::query("ROLLBACK").execute(to).await?;
        return Ok(None);
    }
    sqlx::query(
        "INSERT INTO sessions (id, cwd, folder, title, title_by, created_ms, updated_ms, last_seq, parent_id, parent_seq,
            is_removed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(session.id)
    .bind(session.cwd.as_str())
    .bind(session.folder.as_deref())
    .bind(session.title.as_str())
    .bind(session.title_by.as_deref())
    .bind(session.created_ms)
    .bind(session.updated_ms)
    .bind(last)
    .bind(session.parent)
    .bind(base)
    .bind(session.is_removed)
    .execute(&mut *to)
    .await?;
    sqlx::query("COMMIT").execute(to).await?;
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
    let (mut last, mut limit) = (after, PAGE);
    while last < end {
        let page: Result<Vec<(i64, String, String)>, _> =
            sqlx::query_as("SELECT seq, kind, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?")
                .bind(session)
                .bind(last)
                .bind(limit)
                .fetch_all(&mut *from)
                .await;
        match page {
            Ok(page) => {
                let before = last;
                for (seq, kind, body) in page {
                    let whole = with_contents(from, &body).await;
                    if seq != last + 1 || serde_json::from_str::<neco_proto::Event>(&whole).is_err() {
                        return Ok(last);
                    }
                    insert_raw(to, session, seq, &kind, &whole).await?;
                    last = seq;
                }
                if last == before {
                    break;
                }
            }
            // One of them is damaged: up to it one by one.
            Err(_) if limit > 1 => limit = 1,
            Err(_) => break,
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
