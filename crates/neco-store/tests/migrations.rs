//! Files of every earlier schema are read whole, with everything the present one can do.
//!
//! Each schema has a maker below that fills a file with its own SQL, as the versions of that time did. A new
//! step without a maker fails the first test.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use neco_proto::app::sessions::FoundRole;
use neco_proto::event::TitleSource;
use neco_proto::{EventBody, Part, SessionId};
use neco_store::{Catalog, Durability, EventLog, SearchQuery, SessionRecord, SqliteStore, lease_and_append};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

const STEPS: [&str; 3] = [
    include_str!("../src/sqlite/migrations/0001_sessions_and_events.sql"),
    include_str!("../src/sqlite/migrations/0002_forks_and_blobs.sql"),
    include_str!("../src/sqlite/migrations/0003_messages.sql"),
];

const FIRST: &str = "0190a000-0000-7000-8000-000000000001";
const SECOND: &str = "0190a000-0000-7000-8000-000000000002";
const AGENT: &str = "0190a000-0000-7000-8000-0000000000aa";

fn event(session: &str, seq: u64, rest: &str) -> String {
    format!(
        r#"{{"seq":{seq},"ts":"2024-07-01T12:00:0{seq}.000Z","session_id":"{session}","agent_id":"{AGENT}",{rest}}}"#
    )
}

fn said(session: &str, seq: u64, role: &str, text: &str) -> String {
    let id = format!("0190a000-0000-7000-8000-00000000010{seq}");
    let rest = format!(r#""type":"message","id":"{id}","role":"{role}","parts":[{{"kind":"text","text":"{text}"}}]"#);
    event(session, seq, &rest)
}

fn insert_event(session: &str, seq: u64, kind: &str, body: &str) -> String {
    let id = session.replace('-', "");
    format!("INSERT INTO events (session_id, seq, kind, body) VALUES (x'{id}', {seq}, '{kind}', '{body}');")
}

/// The session that every schema has: three events, one of them as old versions wrote it.
fn common_events() -> String {
    let start = event(
        FIRST,
        1,
        r#""type":"session_start","version":"0.0.9","cwd":"/old","model":"main","scripted":false,"mode":"agent","approval":"ask_first","sandbox":"none","resumed":false"#,
    );
    [
        insert_event(FIRST, 1, "session_start", &start),
        insert_event(FIRST, 2, "message", &said(FIRST, 2, "user", "Please find the old needle")),
        insert_event(FIRST, 3, "message", &said(FIRST, 3, "assistant", "旧的数据库已经修复")),
    ]
    .concat()
}

fn filled_as_schema_1() -> String {
    let (first, second) = (FIRST.replace('-', ""), SECOND.replace('-', ""));
    format!(
        "INSERT INTO sessions (id, cwd, title, created_ms, updated_ms, last_seq) VALUES
            (x'{first}', '/old', 'The old title', 1000, 3000, 3), (x'{second}', '/other', '', 2000, 2000, 0);{}",
        common_events()
    )
}

fn filled_as_schema_2() -> String {
    let (first, second) = (FIRST.replace('-', ""), SECOND.replace('-', ""));
    // The SHA-256 of what follows.
    let hash = "e8e6f4840ab91b11753cf7c6478a774f2adc6c1c8617de3702b00c828c1a4660";
    let big = "a big string ".repeat(300);
    let kept = said(SECOND, 3, "user", &format!("\u{1}{hash}"));
    format!(
        "INSERT INTO sessions (id, cwd, title, created_ms, updated_ms, last_seq, title_by, folder, parent_id, parent_seq)
            VALUES (x'{first}', '/old', 'The old title', 1000, 3000, 3, 'first_words', NULL, NULL, 0),
                   (x'{second}', '/other', '', 2000, 2000, 3, NULL, '1:2:3', x'{first}', 2);
         INSERT INTO blobs (id, hash, size, packing, content) VALUES (7, x'{hash}', {}, 0, CAST('{big}' AS BLOB));
         INSERT INTO blob_uses (session_id, blob) VALUES (x'{second}', 7);{}{}",
        big.len(),
        common_events(),
        insert_event(SECOND, 3, "message", &kept)
    )
}

fn filled_as_schema_3() -> String {
    let first = FIRST.replace('-', "");
    format!("{} UPDATE sessions SET messages = 1, is_single = 1 WHERE id = x'{first}';", filled_as_schema_2())
}

async fn make(path: &Path, version: usize, fill: &str) {
    let mut connection = SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap();
    sqlx::query("PRAGMA journal_mode = WAL").execute(&mut connection).await.unwrap();
    for step in &STEPS[..version] {
        sqlx::raw_sql(*step).execute(&mut connection).await.unwrap();
    }
    let sql = format!("{fill} PRAGMA user_version = {version};");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn id(text: &str) -> SessionId {
    SessionId::from(uuid::Uuid::parse_str(text).unwrap())
}

#[test]
fn every_step_has_a_maker() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite/migrations");
    let steps = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(steps, STEPS.len(), "a new step: add it here, with a maker of files as it leaves them");
}

#[tokio::test]
async fn every_earlier_schema_is_read_whole() {
    for (version, fill) in [(1, filled_as_schema_1()), (2, filled_as_schema_2()), (3, filled_as_schema_3())] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neco.db");
        make(&path, version, &fill).await;
        let store = SqliteStore::open(&path).await.unwrap();
        let first = SessionRecord {
            title: "The old title".to_owned(),
            title_by: Some(TitleSource::FirstWords),
            updated_ms: 3000,
            events: 3,
            messages: (version > 2).then_some(1),
            is_single: version > 2,
            ..SessionRecord::new(id(FIRST), "/old", 1000)
        };
        let listed = store.list(None, 9).await.unwrap();
        assert_eq!(listed.len(), 2, "schema {version}");
        assert_eq!(listed[0], first, "schema {version}");
        // What nobody counted at the time is counted when somebody asks, and known from then on.
        assert_eq!(store.count_messages(vec![id(FIRST)]).await.unwrap()[&id(FIRST)], 1, "schema {version}");
        assert_eq!(store.find(FIRST, 9).await.unwrap()[0].messages, Some(1), "schema {version}");
        let events = store.read(id(FIRST), 0, 99).await.unwrap();
        let types: Vec<_> = events.iter().map(|event| event.body.type_name()).collect();
        assert_eq!(types, ["session_start", "message", "message"], "schema {version}");

        // It can be searched, though nothing was indexed at the time.
        for (words, seq) in [("needle", 2), ("数据库", 3)] {
            let hits = store.search(SearchQuery::new(words, 9)).await.unwrap();
            assert_eq!(hits.len(), 1, "schema {version}: {hits:?}");
            assert_eq!((hits[0].session, hits[0].seq), (id(FIRST), seq));
        }
        let hits = store.search(SearchQuery::new("title", 9)).await.unwrap();
        assert_eq!((hits.len(), hits[0].role), (1, FoundRole::Title), "schema {version}");

        // And it goes on: an event, a fork, a removal.
        let mut next = events[2].clone();
        next.seq = 4;
        lease_and_append(&store, vec![next], Durability::Now).await.unwrap();
        let fork = SessionId::new();
        store.fork(SessionRecord::new(fork, "/old", 5000), id(FIRST), 3).await.unwrap();
        store.remove(id(FIRST)).await.unwrap();
        assert_eq!(store.read(fork, 0, 99).await.unwrap().len(), 3);
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn forks_and_blobs_of_schema_2() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("neco.db");
    make(&path, 2, &filled_as_schema_2()).await;
    let store = SqliteStore::open(&path).await.unwrap();
    let events = store.read(id(SECOND), 0, 99).await.unwrap();
    assert_eq!(
        events.iter().map(|event| (event.seq, event.session_id)).collect::<Vec<_>>(),
        [(1, id(SECOND)), (2, id(SECOND)), (3, id(SECOND))]
    );
    let EventBody::Message(message) = &events[2].body else { panic!("{:?}", events[2]) };
    assert_eq!(message.parts, [Part::Text { text: "a big string ".repeat(300) }]);
    let found = store.of_folder("1:2:3", 9).await.unwrap();
    assert_eq!(found[0].parent, Some((id(FIRST), 2)));
}
