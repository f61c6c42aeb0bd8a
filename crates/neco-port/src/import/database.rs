//! Sessions that lie in a database: opencode keeps them so, and OpenClaw since it left files behind.

use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, Row};

/// The most sessions of one list.
const MOST: i64 = 1000;
/// Entries of a session that are looked at for its folder.
const FIRST: i64 = 20;
/// The most bytes that an entry unpacks to.
const UNPACKED: u64 = 64 * 1024 * 1024;

/// The sessions of a folder, or of all, newest first: those that a person began, not those of subagents. Nothing is
/// written to the database.
/// Fails when it can't be read, or is not laid out as expected.
pub async fn opencode_sessions(file: &Path, cwd: Option<&Path>) -> Result<Vec<String>, sqlx::Error> {
    let mut database = open(file).await?;
    let ask = "SELECT id FROM session WHERE (?1 IS NULL OR directory = ?1) AND parent_id IS NULL \
               ORDER BY time_updated DESC LIMIT ?2";
    let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
    let rows = sqlx::query(ask).bind(cwd).bind(MOST).fetch_all(&mut database).await?;
    database.close().await?;
    rows.iter().map(|row| row.try_get::<String, _>(0)).collect()
}

/// A session as `opencode export` prints it.
/// Fails when it can't be read, or is not laid out as expected.
pub async fn opencode_session(file: &Path, id: &str) -> Result<Value, sqlx::Error> {
    let mut database = open(file).await?;
    let ask = "SELECT directory, title, version, time_created, time_updated, revert FROM session WHERE id = ?";
    let row = sqlx::query(ask).bind(id).fetch_one(&mut database).await?;
    let info = json!({
        "id": id,
        "directory": row.try_get::<String, _>(0)?,
        "title": row.try_get::<String, _>(1)?,
        "version": row.try_get::<String, _>(2)?,
        "time": { "created": row.try_get::<i64, _>(3)?, "updated": row.try_get::<i64, _>(4)? },
        "revert": row.try_get::<Option<String>, _>(5)?.and_then(|text| serde_json::from_str::<Value>(&text).ok()),
    });
    let ask = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id";
    let rows = sqlx::query(ask).bind(id).fetch_all(&mut database).await?;
    let mut messages = Vec::with_capacity(rows.len());
    for row in &rows {
        let message: String = row.try_get(0)?;
        let mut info = parsed(&row.try_get::<String, _>(1)?);
        info["id"] = json!(message);
        let ask = "SELECT data FROM part WHERE message_id = ? ORDER BY id";
        let parts = sqlx::query(ask).bind(&message).fetch_all(&mut database).await?;
        let parts: Vec<Value> =
            parts.iter().map(|row| row.try_get::<String, _>(0).map(|data| parsed(&data))).collect::<Result<_, _>>()?;
        messages.push(json!({ "info": info, "parts": parts }));
    }
    database.close().await?;
    Ok(json!({ "info": info, "messages": messages }))
}

/// The sessions of OpenClaw that work in a folder, or all of them, newest first. The first entries of a session name it.
/// Fails when the database can't be read, or is not laid out as expected.
pub async fn openclaw_sessions(file: &Path, cwd: Option<&Path>) -> Result<Vec<String>, sqlx::Error> {
    let mut database = open(file).await?;
    let ask = "SELECT session_id FROM transcript_events GROUP BY session_id ORDER BY max(created_at) DESC LIMIT ?";
    let ids = sqlx::query(ask).bind(MOST).fetch_all(&mut database).await?;
    let mut sessions = Vec::new();
    for row in &ids {
        let id: String = row.try_get(0)?;
        let Some(cwd) = cwd else {
            sessions.push(id);
            continue;
        };
        let entries = entries(&mut database, &id, FIRST).await?;
        let own = entries.iter().find_map(|entry| entry.get("cwd").and_then(Value::as_str));
        if own.is_some_and(|own| Path::new(own) == cwd) {
            sessions.push(id);
        }
    }
    database.close().await?;
    Ok(sessions)
}

/// The entries of a session of OpenClaw.
/// Fails when the database can't be read, or is not laid out as expected.
pub async fn openclaw_session(file: &Path, id: &str) -> Result<Vec<Value>, sqlx::Error> {
    let mut database = open(file).await?;
    let entries = entries(&mut database, id, i64::MAX).await?;
    database.close().await?;
    Ok(entries)
}

async fn entries(database: &mut SqliteConnection, id: &str, most: i64) -> Result<Vec<Value>, sqlx::Error> {
    let ask = "SELECT 1 FROM pragma_table_info('transcript_events') WHERE name = 'event_zstd'";
    let packed = sqlx::query(ask).fetch_optional(&mut *database).await?.is_some();
    let ask = match packed {
        true => "SELECT event_json, event_zstd FROM transcript_events WHERE session_id = ? ORDER BY seq LIMIT ?",
        false => "SELECT event_json, NULL FROM transcript_events WHERE session_id = ? ORDER BY seq LIMIT ?",
    };
    let rows = sqlx::query(ask).bind(id).bind(most).fetch_all(database).await?;
    Ok(rows.iter().filter_map(entry).collect())
}

/// An entry as text, or packed.
fn entry(row: &SqliteRow) -> Option<Value> {
    if let Ok(Some(text)) = row.try_get::<Option<String>, _>(0) {
        return serde_json::from_str(&text).ok();
    }
    let packed: Vec<u8> = row.try_get::<Option<Vec<u8>>, _>(1).ok()??;
    let mut text = String::new();
    let unpacked = zstd::stream::read::Decoder::new(packed.as_slice()).ok()?;
    unpacked.take(UNPACKED).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

async fn open(file: &Path) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new().filename(file).read_only(true).create_if_missing(false).connect().await
}

/// What can't be read is an object without anything.
fn parsed(data: &str) -> Value {
    serde_json::from_str(data).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn made(file: &Path, statements: &[&'static str]) {
        let mut database = SqliteConnectOptions::new().filename(file).create_if_missing(true).connect().await.unwrap();
        for statement in statements {
            sqlx::query(*statement).execute(&mut database).await.unwrap();
        }
        database.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_database_of_opencode_gives_what_its_export_gives() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opencode.db");
        made(
            &file,
            &[
                "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER, revert TEXT)",
                "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)",
                "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT)",
                "INSERT INTO session VALUES ('ses_1', NULL, '/w', 'A title', '1', 1, 9, NULL), ('ses_2', 'ses_1', '/w', 'a child', '1', 1, 9, NULL), ('ses_3', NULL, '/other', 't', '1', 1, 9, NULL)",
                "INSERT INTO message VALUES ('m2', 'ses_1', 2, '{\"role\":\"assistant\",\"modelID\":\"x\"}'), ('m1', 'ses_1', 1, '{\"role\":\"user\"}')",
                "INSERT INTO part VALUES ('p1', 'm1', 'ses_1', '{\"type\":\"text\",\"text\":\"hello\"}'), ('p2', 'm2', 'ses_1', '{\"type\":\"text\",\"text\":\"hi\"}')",
            ],
        )
        .await;
        assert_eq!(opencode_sessions(&file, Some(Path::new("/w"))).await.unwrap(), ["ses_1"]);
        let document = opencode_session(&file, "ses_1").await.unwrap();
        let mut foreign = crate::import::Foreign::default();
        crate::import::opencode::read(&[document], &mut foreign);
        assert_eq!((foreign.title.as_deref(), foreign.cwd.as_deref()), (Some("A title"), Some("/w")));
        assert_eq!((foreign.messages(), foreign.skipped.total()), (2, 0));
    }

    #[tokio::test]
    async fn packed_entries_of_openclaw_are_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("openclaw-agent.sqlite");
        made(
            &file,
            &[
                "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, created_at INTEGER)",
                "INSERT INTO transcript_events VALUES ('s', 1, '{\"type\":\"session\",\"id\":\"s\",\"cwd\":\"/w\"}', NULL, 1), ('t', 1, '{\"type\":\"session\",\"id\":\"t\",\"cwd\":\"/other\"}', NULL, 1)",
            ],
        )
        .await;
        let message = json!({ "type": "message", "id": "a", "parentId": null, "message": { "role": "user", "content": "hello" } });
        let packed = zstd::stream::encode_all(message.to_string().as_bytes(), 3).unwrap();
        let mut database = SqliteConnectOptions::new().filename(&file).connect().await.unwrap();
        let put = "INSERT INTO transcript_events VALUES ('s', 2, NULL, ?, 2)";
        sqlx::query(put).bind(packed).execute(&mut database).await.unwrap();
        database.close().await.unwrap();
        let sessions = openclaw_sessions(&file, Some(Path::new("/w"))).await.unwrap();
        let entries = openclaw_session(&file, &sessions[0]).await.unwrap();
        let mut foreign = crate::import::Foreign::default();
        crate::import::openclaw::read(&entries, &mut foreign);
        assert_eq!((sessions.len(), foreign.messages(), foreign.id.as_deref()), (1, 1, Some("s")));
    }
}
