//! Looks whether what a database holds is what was written: SQLite watches over pages, and not over what stands in them.

use sqlx::SqliteConnection;
use uuid::Uuid;

use super::blob;

/// Rows that are read at a time, and big strings.
const ROWS: i64 = 256;
const STRINGS: i64 = 8;

/// A big string as it is kept: its number, hash, size, how it is packed, and what it is then.
type Kept = (i64, Vec<u8>, i64, i64, Vec<u8>);

/// What is wrong with the contents, if something is.
pub(super) async fn wrong_in(connection: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
    let found = match wrong_session(connection).await? {
        None => match wrong_event(connection).await? {
            None => wrong_blob(connection).await?,
            found => found,
        },
        found => found,
    };
    Ok(found)
}

async fn wrong_session(connection: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
    let rows: Vec<(Uuid, Vec<u8>)> = sql!(
        query_as.fetch_all(connection),
        "SELECT id, CAST(cwd || char(10) || title || char(10) || coalesce(folder, '') AS BLOB) FROM sessions"
    )?;
    let wrong = rows.into_iter().find(|(_, texts)| std::str::from_utf8(texts).is_err());
    Ok(wrong.map(|(id, _)| format!("what is known of session {id} is no text")))
}

async fn wrong_event(connection: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
    let mut after = (Uuid::nil(), 0);
    loop {
        let rows: Vec<(Uuid, i64, Vec<u8>)> = sql!(
            query_as.fetch_all(&mut *connection),
            "SELECT session_id, seq, CAST(body AS BLOB) FROM events
                WHERE (session_id, seq) > (?, ?) ORDER BY session_id, seq LIMIT ?",
            (after.0, after.1, ROWS)
        )?;
        let Some((session, seq, _)) = rows.last() else { return Ok(None) };
        after = (*session, *seq);
        if let Some((session, seq, _)) = rows.iter().find(|(_, _, body)| !blob::is_json(body)) {
            return Ok(Some(format!("event {seq} of session {session} is not readable")));
        }
    }
}

async fn wrong_blob(connection: &mut SqliteConnection) -> Result<Option<String>, sqlx::Error> {
    let mut after = i64::MIN;
    loop {
        let rows: Vec<Kept> = sql!(
            query_as.fetch_all(&mut *connection),
            "SELECT id, hash, size, packing, content FROM blobs WHERE id > ? ORDER BY id LIMIT ?",
            (after, STRINGS)
        )?;
        let Some((id, ..)) = rows.last() else { return Ok(None) };
        after = *id;
        let is_sound = |(_, hash, size, packing, content): &Kept| blob::is_sound(hash, *size, *packing, content);
        if !rows.iter().all(is_sound) {
            return Ok(Some("a text or picture is not what was kept".to_owned()));
        }
    }
}
