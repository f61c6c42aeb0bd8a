//! What is found when a store is opened.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use neco_proto::event::TitleSource;
use neco_store::{Catalog, Durability, EventLog, SqliteStore, StoreError};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use support::{append, new_store, seqs, session};

async fn run_sql(path: &Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn open_error(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = SqliteStore::open(path).await.err().unwrap();
    assert_eq!(fs::read(path).unwrap(), before, "the file was touched");
    error
}

#[tokio::test]
async fn a_database_of_another_program_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("neco.db");
    run_sql(&path, "CREATE TABLE notes (text)").await;
    assert_eq!(open_error(&path).await, StoreError::Foreign { path: path.display().to_string() });
}

#[tokio::test]
async fn a_newer_database_is_left_alone() {
    let (_dir, path, store) = new_store().await;
    store.close().await.unwrap();
    run_sql(&path, "PRAGMA user_version = 1000").await;
    assert_eq!(open_error(&path).await, StoreError::TooNew { path: path.display().to_string() });
}

#[tokio::test]
async fn a_place_that_can_not_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let error = SqliteStore::open(&file.join("neco.db")).await.err().unwrap();
    let StoreError::Write(message) = &error else { panic!("{error}") };
    assert!(message.contains(file.to_str().unwrap()), "{message}");
}

#[tokio::test]
async fn only_the_owner_can_read_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("some").join("where").join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path().join("some")), 0o700);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_closed_store_is_one_file_beside_its_locks_and_its_reserve_and_does_nothing() {
    let (dir, path, store) = new_store().await;
    append(&store, 1, Durability::Soon).await.unwrap();
    assert_eq!(seqs(&store, session()).await, [1]);
    store.close().await.unwrap();
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let beside = ["neco.db-lock", "neco.db-reserve", "locks"].map(|name| path.with_file_name(name));
    let is_there = files.contains(&path) && beside.iter().all(|file| files.contains(file));
    assert!(files.len() == 4 && is_there, "{files:?}");
    for durability in [Durability::Soon, Durability::Now] {
        assert_eq!(append(&store, 2, durability).await, Err(StoreError::Closed));
    }
    assert_eq!(store.read(session(), 0, 1).await, Err(StoreError::Closed));
    assert_eq!(store.flush().await, Err(StoreError::Closed));
    assert_eq!(store.list(None, 1).await, Err(StoreError::Closed));
    assert_eq!(store.set_title(session(), "", TitleSource::Person).await, Err(StoreError::Closed));
    store.close().await.unwrap();
}

#[tokio::test]
async fn opening_one_that_is_there_writes_nothing() {
    let (_dir, path, store) = new_store().await;
    store.close().await.unwrap();
    let before = fs::read(&path).unwrap();
    for _ in 0..2 {
        let store = SqliteStore::open(&path).await.unwrap();
        assert_eq!(store.list(None, 9).await.unwrap().len(), 1);
        assert_eq!(fs::metadata(path.with_file_name("neco.db-wal")).map_or(0, |log| log.len()), 0);
        store.close().await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}
