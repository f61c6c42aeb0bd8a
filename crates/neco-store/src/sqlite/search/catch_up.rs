//! Brings the index up to date with the log.

use neco_proto::Event;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::entry::{self, Entry, Numbers};
use crate::recall::segment::words_of;
use crate::search::text::KINDS;
use crate::sqlite::blob;
use crate::sqlite::events::{Unreadable, event_of};

/// How many messages are read at a time, and in how many bytes or sessions a transaction ends.
const PAGE: i64 = 200;
const ENOUGH_BYTES: usize = 1 << 20;
const ENOUGH_SESSIONS: usize = 200;

/// How a session stands in the store.
struct Standing {
    created_ms: i64,
    base: i64,
    last_seq: i64,
    title: String,
    cwd: String,
}

/// What the index has of a session.
struct Indexed {
    key: i64,
    created_ms: i64,
    seq: i64,
    title: String,
    cwd: String,
}

from_row!(Standing { created_ms, base = parent_seq, last_seq, title, cwd });

from_row!(Indexed { key, created_ms, seq, title, cwd });

/// What a transaction has taken in so far.
#[derive(Default)]
struct Taken {
    numbers: Numbers,
    bytes: usize,
    sessions: usize,
}

impl Taken {
    fn is_enough(&self) -> bool {
        self.bytes >= ENOUGH_BYTES || self.sessions >= ENOUGH_SESSIONS
    }
}

/// Takes in everything that is new, transaction by transaction, as long as it is not told to stop.
pub(super) async fn catch_up(connection: &mut SqliteConnection, stops: impl Fn() -> bool) -> Result<(), Unreadable> {
    let mut behind = behind(connection).await?.into_iter().peekable();
    while behind.peek().is_some() && !stops() {
        begin(connection).await?;
        let mut taken = Taken::default();
        let done = async {
            while !taken.is_enough()
                && let Some(session) = behind.peek()
            {
                if take(connection, *session, &mut taken).await? {
                    behind.next();
                }
            }
            Ok(())
        };
        let done = done.await;
        end(connection, done).await?;
    }
    if has_orphans(connection).await? {
        begin(connection).await?;
        let done = drop_orphans(connection).await;
        end(connection, done.map_err(Unreadable::Sql)).await?;
    }
    Ok(())
}

/// Takes out what is no longer in the store. Words that are taken out stay in the file until their segments are
/// merged, so that is done at once.
pub(super) async fn forget_removed(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    begin(connection).await?;
    let done = async {
        drop_orphans(connection).await?;
        shorten(connection).await?;
        for sql in ["INSERT INTO words (words) VALUES ('optimize')", "INSERT INTO titles (titles) VALUES ('optimize')"]
        {
            sql!(query.execute(&mut *connection), sql)?;
        }
        Ok(())
    };
    let done = done.await;
    let sql = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sql!(query.execute(&mut *connection), sql);
    done.and(ended.map(drop))?;
    sql!(query.execute(connection), "PRAGMA wal_checkpoint(TRUNCATE)").map(drop)
}

/// Of sessions that were removed only what their forks need is left.
async fn shorten(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let shorter: Vec<(i64, i64)> = sql!(
        query_as.fetch_all(&mut *connection),
        "SELECT key, last_seq FROM indexed JOIN store.sessions ON sessions.id = indexed.id
            WHERE is_removed AND (seq > last_seq OR indexed.title <> '')"
    )?;
    for (key, last) in shorter {
        forget_after(connection, key, last).await?;
        set_title(connection, key, "").await?;
        sql!(
            query.execute(&mut *connection),
            "UPDATE indexed SET seq = min(seq, ?), title = '' WHERE key = ?",
            (last, key)
        )?;
    }
    Ok(())
}

/// The store is only read: a plain BEGIN and a change that changes nothing lock the index alone.
async fn begin(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sql!(query.execute(&mut *connection), "BEGIN")?;
    sql!(query.execute(&mut *connection), "DELETE FROM places WHERE key < 0")?;
    Ok(())
}

async fn end(connection: &mut SqliteConnection, done: Result<(), Unreadable>) -> Result<(), Unreadable> {
    let sql = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = sql!(query.execute(connection), sql);
    done.and(ended.map(drop).map_err(Unreadable::Sql))
}

async fn behind(connection: &mut SqliteConnection) -> Result<Vec<Uuid>, sqlx::Error> {
    sql!(
        query_scalar.fetch_all(connection),
        "SELECT sessions.id FROM store.sessions LEFT JOIN indexed ON indexed.id = sessions.id
            WHERE indexed.key IS NULL OR seq <> last_seq OR indexed.title <> sessions.title
               OR indexed.cwd <> sessions.cwd OR indexed.created_ms <> sessions.created_ms"
    )
}

/// Takes in a part of what is new in a session; says whether that was all.
async fn take(connection: &mut SqliteConnection, session: Uuid, taken: &mut Taken) -> Result<bool, Unreadable> {
    let standing: Option<Standing> = sql!(
        query_as.fetch_optional(&mut *connection),
        "SELECT created_ms, parent_seq, last_seq, title, cwd FROM store.sessions WHERE id = ?",
        (session)
    )?;
    taken.sessions += 1;
    let Some(standing) = standing else { return Ok(true) };
    let indexed = settle(connection, session, &standing).await?;
    let (events, upto) = messages(connection, session, indexed.seq, standing.last_seq).await?;
    let entries: Vec<Entry> = events.iter().filter_map(Entry::of).collect();
    taken.bytes += entries.iter().map(Entry::bytes).sum::<usize>();
    let place = place_of(connection, &standing.cwd).await?;
    entry::insert(connection, &mut taken.numbers, indexed.key, &place, entries).await?;
    sql!(query.execute(connection), "UPDATE indexed SET seq = ? WHERE key = ?", (upto, indexed.key))?;
    Ok(upto == standing.last_seq)
}

/// Makes everything but the newest messages of a session right.
async fn settle(connection: &mut SqliteConnection, session: Uuid, standing: &Standing) -> Result<Indexed, sqlx::Error> {
    let found: Option<Indexed> = sql!(
        query_as.fetch_optional(&mut *connection),
        "SELECT key, created_ms, seq, title, cwd FROM indexed WHERE id = ?",
        (session)
    )?;
    let mut indexed = match found {
        Some(indexed) => indexed,
        None => insert(connection, session, standing).await?,
    };
    if indexed.cwd != standing.cwd || indexed.created_ms != standing.created_ms {
        indexed.seq = standing.base;
    }
    // Of a session that was removed only what its forks need is left.
    indexed.seq = indexed.seq.min(standing.last_seq);
    forget_after(connection, indexed.key, indexed.seq).await?;
    if indexed.title != standing.title {
        set_title(connection, indexed.key, &standing.title).await?;
    }
    sql!(
        query.execute(connection),
        "UPDATE indexed SET created_ms = ?, seq = ?, title = ?, cwd = ? WHERE key = ?",
        (standing.created_ms, indexed.seq, standing.title.as_str(), standing.cwd.as_str(), indexed.key)
    )?;
    Ok(indexed)
}

async fn insert(connection: &mut SqliteConnection, session: Uuid, standing: &Standing) -> Result<Indexed, sqlx::Error> {
    let inserted = sql!(
        query.execute(connection),
        "INSERT INTO indexed (id, created_ms, seq, title, cwd) VALUES (?, ?, ?, '', ?)",
        (session, standing.created_ms, standing.base, standing.cwd.as_str())
    )?;
    Ok(Indexed {
        key: inserted.last_insert_rowid(),
        created_ms: standing.created_ms,
        seq: standing.base,
        title: String::new(),
        cwd: standing.cwd.clone(),
    })
}

async fn set_title(connection: &mut SqliteConnection, key: i64, title: &str) -> Result<(), sqlx::Error> {
    sql!(query.execute(&mut *connection), "DELETE FROM titles WHERE rowid = ?", (key))?;
    if !title.is_empty() {
        sql!(query.execute(connection), "INSERT INTO titles (rowid, title) VALUES (?, ?)", (key, words_of(title)))?;
    }
    Ok(())
}

async fn forget_after(connection: &mut SqliteConnection, key: i64, seq: i64) -> Result<(), sqlx::Error> {
    for sql in [
        "DELETE FROM words WHERE rowid IN (SELECT number FROM said WHERE session = ? AND seq > ?)",
        "DELETE FROM said WHERE session = ? AND seq > ?",
    ] {
        sql!(query.execute(&mut *connection), sql, (key, seq))?;
    }
    Ok(())
}

/// The next messages that the session has written itself, and up to which event that is everything.
async fn messages(
    connection: &mut SqliteConnection,
    session: Uuid,
    after: i64,
    last: i64,
) -> Result<(Vec<Event>, i64), Unreadable> {
    let rows: Vec<(i64, String)> = sql!(
        query_as.fetch_all(&mut *connection),
        "SELECT seq, body FROM store.events WHERE session_id = ? AND seq > ? AND seq <= ? AND kind IN (?, ?)
            ORDER BY seq LIMIT ?",
        (session, after, last, KINDS[0], KINDS[1], PAGE)
    )?;
    let upto = rows.get(PAGE as usize - 1).map_or(last, |(seq, _)| *seq);
    let mut events = Vec::with_capacity(rows.len());
    for (_, body) in &rows {
        let contents = blob::contents(connection, body).await?;
        // What can't be read can't be found either; whoever opens the session is told.
        events.extend(event_of(body, &contents));
    }
    Ok((events, upto))
}

async fn place_of(connection: &mut SqliteConnection, cwd: &str) -> Result<String, sqlx::Error> {
    sql!(query.execute(&mut *connection), "INSERT INTO places (cwd) VALUES (?) ON CONFLICT DO NOTHING", (cwd))?;
    let key: i64 = sql!(query_scalar.fetch_one(connection), "SELECT key FROM places WHERE cwd = ?", (cwd))?;
    Ok(format!("p{key}"))
}

/// Whether the index has sessions that the store has not; all that the store has are in the index by now.
async fn has_orphans(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    sql!(
        query_scalar.fetch_one(connection),
        "SELECT (SELECT count(*) FROM indexed) > (SELECT count(*) FROM store.sessions)"
    )
}

async fn drop_orphans(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let orphans: Vec<i64> = sql!(
        query_scalar.fetch_all(&mut *connection),
        "SELECT key FROM indexed WHERE NOT EXISTS (SELECT 1 FROM store.sessions WHERE id = indexed.id)"
    )?;
    for key in orphans {
        forget_after(connection, key, -1).await?;
        set_title(connection, key, "").await?;
        sql!(query.execute(&mut *connection), "DELETE FROM indexed WHERE key = ?", (key))?;
    }
    Ok(())
}
