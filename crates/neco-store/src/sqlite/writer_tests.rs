//! What is on the disk for good, and when.

use jiff::Timestamp;
use neco_proto::event::StreamChunk;
use neco_proto::{AgentId, Event, EventBody, Seq};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::catalog::SessionRecord;

/// A writer of the store in a folder.
async fn writer(folder: &TempDir) -> Writer {
    let path = folder.path().join("neco.db");
    let index = Arc::new(SearchIndex::beside(&path));
    let shared = Shared { tails: Arc::default(), live: Arc::default(), index };
    let (_, jobs) = mpsc::channel(1);
    Writer::new(&path, open::open(&path).await.unwrap(), None, shared, jobs)
}

/// A writer of a store with one session.
async fn begun() -> (TempDir, Writer, SessionId) {
    let (folder, session) = (tempfile::tempdir().unwrap(), SessionId::new());
    let mut writer = writer(&folder).await;
    let (mut pending, (reply, created)) = (Pending::default(), oneshot::channel());
    pending.add(Job::Catalog(CatalogChange::Create(SessionRecord::new(session, "/project", 0)), reply));
    writer.write(&mut pending).await.unwrap();
    created.await.unwrap().unwrap();
    (folder, writer, session)
}

/// An event that only passes.
fn passing(session: SessionId, seq: Seq) -> Job {
    let body = EventBody::StreamChunk(StreamChunk { text: "piece".to_owned() });
    let event = Event::new(seq, Timestamp::UNIX_EPOCH, session, AgentId::new(), None, body);
    Job::Append(Batch::of(&[event]).unwrap().unwrap())
}

async fn flush(writer: &mut Writer, pending: &mut Pending) -> Result<(), StoreError> {
    let (reply, flushed) = oneshot::channel();
    pending.add(Job::Flush(reply));
    let _ = writer.write(pending).await;
    flushed.await.unwrap()
}

#[tokio::test]
async fn a_flush_forces_what_passed_also_beside_something_that_changes_nothing() {
    let (_folder, mut writer, session) = begun().await;
    let mut pending = Pending::default();
    pending.add(passing(session, 1));
    writer.write(&mut pending).await.unwrap();
    assert!(writer.unforced_since.is_some());
    let (reply, changed) = oneshot::channel();
    // It has no event 9, so nothing is counted.
    pending.add(Job::Catalog(CatalogChange::SetMessages { session, messages: 1, upto: 9 }, reply));
    // Nor does the log go on there.
    pending.add(passing(session, 9));
    flush(&mut writer, &mut pending).await.unwrap();
    changed.await.unwrap().unwrap();
    assert!(writer.unforced_since.is_none());
}

#[tokio::test]
async fn what_passes_is_left_to_a_later_commit_only_for_so_long() {
    let (_folder, mut writer, session) = begun().await;
    let mut pending = Pending::default();
    for (seq, ago, is_forced) in [(1, UNFORCED / 2, false), (2, UNFORCED, true)] {
        writer.unforced_since = Instant::now().checked_sub(ago);
        pending.add(passing(session, seq));
        writer.write(&mut pending).await.unwrap();
        assert_eq!(writer.unforced_since.is_none(), is_forced, "{ago:?}");
    }
}

#[tokio::test]
async fn what_could_not_be_forced_can_be_the_next_time() {
    let (_folder, mut writer, session) = begun().await;
    let mut pending = Pending::default();
    pending.add(passing(session, 1));
    writer.write(&mut pending).await.unwrap();
    // In the middle of a transaction nothing can be set.
    let connected = writer.connection.as_mut().unwrap();
    sql!(query.execute(&mut connected.connection), "BEGIN IMMEDIATE").unwrap();
    assert!(flush(&mut writer, &mut pending).await.is_err());
    flush(&mut writer, &mut pending).await.unwrap();
    // Where the connection itself is gone, another one takes its place.
    pending.add(passing(session, 2));
    writer.write(&mut pending).await.unwrap();
    assert!(writer.end(Err::<(), _>(sqlx::Error::WorkerCrashed)).await.is_err());
    assert!(writer.connection.is_none() && writer.unforced_since.is_some());
    flush(&mut writer, &mut pending).await.unwrap();
    assert!(writer.unforced_since.is_none());
}

#[tokio::test]
async fn the_write_ahead_log_is_begun_before_somebody_writes() {
    let (folder, mut writer, _) = begun().await;
    writer.disconnect().await;
    let mut writer = self::writer(&folder).await;
    let log = folder.path().join("neco.db-wal");
    let bytes = || std::fs::metadata(&log).map_or(0, |log| log.len());
    assert_eq!(bytes(), 0);
    writer.begin().await;
    assert!(bytes() > 0 && writer.unforced_since.is_none());
}
