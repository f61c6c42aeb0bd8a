//! What fails on the way up and what is ended on the way down leaves nothing behind.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use neco_app::opening::Opening;
use neco_proto::app::opening::OpenSession;
use neco_proto::{Client, Command, Seq};
use neco_store::{Catalog, EventLog, lock_folder};
use serde_json::json;

use super::stage::{Stage, call};

/// How many sessions are locked.
fn locked(stage: &Stage) -> usize {
    fs::read_dir(lock_folder(&stage.path("home/data"))).into_iter().flatten().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_leaves_nothing_behind_at_any_step() {
    let stage = Stage::new(&json!([{ "say": "Done." }]));
    let (one, data) = (stage.project("one", &[("notes.txt", "x\n")]), stage.path("home/data"));
    // Settings.
    stage.configure("mode = ");
    assert!(stage.workspaces.at(&one, &[]).await.is_err());
    assert!(!data.exists());
    stage.configure("");
    stage.workspaces.at(&one, &[]).await.unwrap();
    // The store.
    fs::remove_dir_all(&data).unwrap_or_default();
    fs::write(&data, "in the way").unwrap();
    assert!(stage.workspaces.store().await.is_err());
    fs::remove_file(&data).unwrap();
    let (store, _) = stage.workspaces.store().await.unwrap();
    // Models, and agents.
    let plain = OpenSession { folder: one.display().to_string(), ..OpenSession::default() };
    let fails = [
        OpenSession { model: Some("nobody/x".to_owned()), ..plain.clone() },
        OpenSession { generation: Some(99), ..plain.clone() },
        OpenSession { tools: vec!["nonsense".to_owned()], ..plain.clone() },
    ];
    let open = |wanted| Opening { wanted, ..Opening::default() }.open(&stage.workspaces, &());
    for wanted in fails {
        assert!(open(wanted).await.is_err());
        assert_eq!((store.list(None, 9).await.unwrap().len(), locked(&stage)), (0, 0));
    }
    // A prompt of the person's own is read last.
    let prompt = stage.path("home/prompts/base.md");
    fs::create_dir_all(prompt.parent().unwrap()).unwrap();
    fs::write(&prompt, "{{ nonsense }}").unwrap();
    assert!(open(plain).await.is_err());
    assert_eq!((store.list(None, 9).await.unwrap().len(), locked(&stage)), (0, 0), "nothing of it stays in the list");
    fs::remove_file(&prompt).unwrap();
    // And the way down again.
    let mut open = stage.open(&one, "", false).await;
    open.ask("go").await;
    assert_eq!(locked(&stage), 1);
    open.close().await;
    assert_eq!(locked(&stage), 0);
    stage.workspaces.close().await.unwrap();
    assert!(store.list(None, 9).await.is_err(), "the store is closed");
    assert_eq!(stage.workspaces.store().await.unwrap().0.list(None, 9).await.unwrap().len(), 1, "and has it all");
}

/// Processes with these words in their command line.
pub fn processes(words: &str) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = all.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(words)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_at_any_step_leaves_nothing_behind() {
    let runs = call("bash", &json!({ "command": "touch ../begun; exec sleep 86.4913" }));
    let stage = Stage::new(&json!([runs, { "say": "Done." }]));
    stage.configure("[[policy.rules]]\ntool = \"bash\"\ndecision = \"allow\"\n");
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let log = stage.path("home/data/neco.db-wal");
    let left = || (locked(&stage), processes("86.4913"), log.exists());
    // Settings alone.
    let workspace = stage.workspaces.at(&one, &[]).await.unwrap();
    stage.workspaces.close().await.unwrap();
    assert_eq!((Arc::strong_count(&workspace), left()), (1, (0, 0, false)));
    // The store.
    drop(stage.workspaces.store().await.unwrap());
    stage.workspaces.close().await.unwrap();
    assert_eq!(left(), (0, 0, false));
    // Agents, before and while they work.
    for works in [false, true] {
        let open = stage.open_with(&one, "", false, &["sandbox.level=full".to_owned()]).await;
        let id = open.session.id();
        if works {
            let content = "go".to_owned();
            open.session.send(Command::UserMessage { content, attachments: Vec::new() }).await.unwrap();
            while !stage.path("begun").exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        open.close().await;
        stage.workspaces.close().await.unwrap();
        assert_eq!(left(), (0, 0, false));
        let (store, aside) = stage.workspaces.store().await.unwrap();
        assert!(aside.is_none(), "nothing of the log is half written");
        let events = store.read(id, 0, 1000).await.unwrap();
        let seqs: Vec<Seq> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as Seq).collect::<Vec<_>>());
    }
    stage.workspaces.close().await.unwrap();
}
