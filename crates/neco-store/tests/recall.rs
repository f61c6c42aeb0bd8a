//! The index of the memory: what it finds, how it is kept, and what becomes of a damaged one.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use neco_store::MemoryIndex;
use neco_store::recall::{FileStamp, NewRecord, Record};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

const HERE: &str = "/here";

fn entry(file: &str, title: &str, summary: &str, tags: &[&str], body: &str) -> NewRecord {
    let record = Record {
        folder: HERE.to_owned(),
        file: file.to_owned(),
        stamp: FileStamp { modified_ns: 1, size: 2, hash: vec![3], read_ns: 4 },
        id: file.trim_end_matches(".md").to_owned(),
        title: title.to_owned(),
        summary: summary.to_owned(),
        category: "solution".to_owned(),
        tags: tags.iter().map(ToString::to_string).collect(),
        source: "person".to_owned(),
        created_ms: 5,
        ..Record::default()
    };
    NewRecord { record, body: body.to_owned() }
}

async fn found(index: &MemoryIndex, question: &str) -> Vec<String> {
    let scores = index.scores(&[HERE.to_owned()], question).await.unwrap();
    assert!(scores.iter().all(|(_, score)| *score >= 0.0), "{scores:?}");
    scores.into_iter().map(|((_, file), _)| file.trim_end_matches(".md").to_owned()).collect()
}

async fn filled(path: &Path) -> MemoryIndex {
    let index = MemoryIndex::new(path.to_owned());
    let entries = [
        entry("tabs.md", "Use tabs", "Indentation is done with tabs", &["style"], "Never spaces, says the person."),
        entry("redis.md", "Tests need redis", "Start redis before the tests", &["数据库"], "docker compose up redis"),
        entry("zh.md", "修复数据库连接超时", "连接池太小时会超时，需要加大", &[], "在配置里把 pool_size 调到 20"),
        entry("ja.md", "テストの実行方法", "先にマイグレーションを実行する", &[], "cargo xtask を使う"),
        entry("ko.md", "빌드 명령어", "먼저 의존성을 설치해야 한다", &[], "make all"),
        entry("th.md", "การทดสอบระบบ", "", &[], ""),
        entry("cafe.md", "Café menu", "naïve résumé", &[], ""),
    ];
    index.apply(HERE, &entries, &[]).await.unwrap();
    index
}

#[tokio::test]
async fn words_of_many_scripts_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(&dir.path().join("memory.db")).await;
    for (question, expected) in [
        ("tabs", vec!["tabs"]),
        ("testing", vec!["redis"]),
        ("which INDENTATION?", vec!["tabs"]),
        ("cafe resume", vec!["cafe"]),
        ("pool_size", vec!["zh"]),
        ("数据", vec!["redis", "zh"]),
        ("超时", vec!["zh"]),
        ("连", vec!["zh"]),
        ("实行", vec![]),
        ("実行", vec!["ja"]),
        ("テスト", vec!["ja"]),
        ("명령", vec!["ko"]),
        ("설치", vec!["ko"]),
        ("ทดสอบ", vec!["th"]),
        ("the of and", vec![]),
        ("\" OR (NEAR* - ' ; --", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(&index, question).await, expected, "{question}");
    }
    let elsewhere = index.scores(&["/elsewhere".to_owned()], "tabs").await.unwrap();
    assert!(elsewhere.is_empty());
}

#[tokio::test]
async fn what_changes_and_goes_is_not_found_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/er/memory.db");
    let index = filled(&path).await;
    index.apply(HERE, &[entry("tabs.md", "Use spaces", "", &[], "")], &["redis.md".to_owned()]).await.unwrap();
    assert_eq!(found(&index, "spaces").await, ["tabs"]);
    assert!(found(&index, "tabs indentation redis").await.is_empty());
    assert_eq!(index.files(HERE).await.unwrap().len(), 6);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn words_that_are_gone_no_longer_rank() {
    let dir = tempfile::tempdir().unwrap();
    let fresh = filled(&dir.path().join("fresh.db")).await;
    let changed = filled(&dir.path().join("changed.db")).await;
    let long = entry("tabs.md", "Use tabs", "", &[], &"tabs are what it is about ".repeat(500));
    changed.apply(HERE, &[long], &["redis.md".to_owned()]).await.unwrap();
    let back = ["redis.md", "tabs.md"].map(|file| {
        let title = if file == "tabs.md" { "Use tabs" } else { "Tests need redis" };
        entry(file, title, "", &[], "")
    });
    for index in [&fresh, &changed] {
        index.apply(HERE, &back, &[]).await.unwrap();
    }
    let scores = async |index: &MemoryIndex| index.scores(&[HERE.to_owned()], "tabs redis menu").await.unwrap();
    assert_eq!(scores(&fresh).await, scores(&changed).await);
}

#[tokio::test]
async fn uses_are_counted_apart_from_the_entries() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(&dir.path().join("memory.db")).await;
    index.count_use(HERE, "tabs", 100).await.unwrap();
    index.count_use(HERE, "tabs", 50).await.unwrap();
    index.apply(HERE, &[entry("tabs.md", "Use tabs always", "", &[], "")], &[]).await.unwrap();
    let entries = index.entries(&[HERE.to_owned()]).await.unwrap();
    let tabs = entries.iter().find(|entry| entry.id == "tabs").unwrap();
    assert_eq!((tabs.title.as_str(), tabs.uses, tabs.last_ms), ("Use tabs always", 2, 100));
    assert!(entries.iter().all(|entry| entry.id == "tabs" || entry.uses == 0));
}

#[tokio::test]
async fn a_damaged_index_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    filled(&path).await.close().await;
    for damage in [b"not a database at all, but long enough to be looked at".repeat(100), vec![0x55; 10_000]] {
        fs::write(&path, damage).unwrap();
        let index = MemoryIndex::new(path.clone());
        assert!(index.files(HERE).await.unwrap().is_empty());
        index.apply(HERE, &[entry("a.md", "Anew", "", &[], "")], &[]).await.unwrap();
        assert_eq!(found(&index, "anew").await, ["a"]);
        index.close().await;
    }
    let other = MemoryIndex::new(path.clone());
    assert_eq!(other.files(HERE).await.unwrap().len(), 1, "it was kept");
}

#[tokio::test]
async fn damage_that_shows_later_is_mended_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let many: Vec<_> = (0..200).map(|n| entry(&format!("{n}.md"), &format!("Entry {n}"), "", &[], "words")).collect();
    let index = MemoryIndex::new(path.clone());
    index.apply(HERE, &many, &[]).await.unwrap();
    index.close().await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0x55);
    fs::write(&path, bytes).unwrap();
    let index = MemoryIndex::new(path);
    let before = index.entries(&[HERE.to_owned()]).await.unwrap();
    assert!(before.is_empty() && index.times_opened() > 1, "{}", index.times_opened());
    index.apply(HERE, &many, &[]).await.unwrap();
    assert_eq!(index.entries(&[HERE.to_owned()]).await.unwrap().len(), 200);
}

#[tokio::test]
async fn where_nothing_can_be_kept_it_works_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let index = filled(&dir.path().join("file/memory.db")).await;
    assert_eq!(found(&index, "tabs").await, ["tabs"]);
    // So does one that a newer Neco has written, which stays as it is.
    let path = dir.path().join("memory.db");
    filled(&path).await.close().await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::query("PRAGMA user_version = 1000").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let index = filled(&path).await;
    assert_eq!(found(&index, "tabs").await, ["tabs"]);
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.unwrap();
    assert_eq!(version, 1000);
}

#[tokio::test]
async fn an_empty_database_becomes_an_index_and_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    filled(&path).await.close().await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let version: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.unwrap();
    assert_eq!(version, 2);
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE name IN ('entries', 'uses', 'words') ORDER BY name")
            .fetch_all(&mut connection)
            .await
            .unwrap();
    assert_eq!(tables, ["entries", "uses", "words"]);
}

#[tokio::test]
async fn an_index_without_its_words_is_filled_again_and_keeps_what_was_of_use() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let mut connection = SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await.unwrap();
    let before = include_str!("../src/recall/migrations/0001_entries.sql");
    sqlx::raw_sql(before).execute(&mut connection).await.unwrap();
    let used = "INSERT INTO uses VALUES ('/here', 'tabs', 3, 100);
        INSERT INTO entries VALUES (1, '/here', 'tabs.md', 1, 2, x'03', 4, 'tabs', 'Use tabs', '', '', '', '', '', '', 5, '');
        INSERT INTO words (rowid, title, summary, tags, body) VALUES (1, 'tabs', '', '', '');
        PRAGMA user_version = 1";
    sqlx::raw_sql(used).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();

    let index = MemoryIndex::new(path);
    assert!(index.files(HERE).await.unwrap().is_empty(), "all are read again");
    index.apply(HERE, &[entry("tabs.md", "Use tabs", "", &[], "")], &[]).await.unwrap();
    assert_eq!(found(&index, "tabs").await, ["tabs"]);
    assert_eq!(index.entries(&[HERE.to_owned()]).await.unwrap()[0].uses, 3);
}

#[tokio::test]
async fn two_processes_share_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let write = |name: &'static str| {
        let index = MemoryIndex::new(path.clone());
        async move {
            for number in 0..20 {
                let new = entry(&format!("{name}{number}.md"), name, "", &[], "");
                index.apply(HERE, &[new], &[]).await.unwrap();
                index.count_use(HERE, "shared", 1).await.unwrap();
            }
        }
    };
    tokio::join!(write("one"), write("two"));
    let index = MemoryIndex::new(path.clone());
    assert_eq!(index.files(HERE).await.unwrap().len(), 40);
    index.apply(HERE, &[entry("shared.md", "s", "", &[], "")], &[]).await.unwrap();
    let entries = index.entries(&[HERE.to_owned()]).await.unwrap();
    assert_eq!(entries.iter().find(|entry| entry.id == "shared").unwrap().uses, 40);
}

/// Whoever writes may be cancelled at any moment: that must not keep others from writing.
#[tokio::test]
async fn a_write_that_is_dropped_leaves_no_transaction_open() {
    use std::future::Future;
    use std::task::Poll;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    let (first, second) = (filled(&path).await, MemoryIndex::new(path.clone()));
    let entries: Vec<NewRecord> = (0..20).map(|n| entry(&format!("{n}.md"), "a title", "words", &[], "")).collect();
    for polls in 1..12 {
        let mut writing = Box::pin(first.apply(HERE, &entries, &[]));
        let mut left = polls;
        std::future::poll_fn(|context| {
            left -= 1;
            if writing.as_mut().poll(context).is_ready() || left == 0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        drop(writing);
        let other = [entry(&format!("other{polls}.md"), "another title", "words", &[], "")];
        let written = tokio::time::timeout(std::time::Duration::from_secs(5), second.apply(HERE, &other, &[])).await;
        written.unwrap().unwrap();
    }
}
