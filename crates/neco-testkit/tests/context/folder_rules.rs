//! Rules files below the workspace: told once, when their folder is first touched.

use neco_model::Request;
use neco_proto::{Client, Command, Event, EventBody};
use serde_json::json;

use crate::model::{Model, Reply, unpaired, wants_summary};
use crate::stage::{say, stage, until};

const RULE: &str = "In this folder everything is in rhyme.";

fn read(path: &str) -> Reply {
    Reply::Call("read_file", json!({ "path": path }))
}

fn times(request: &Request, text: &str) -> usize {
    request.history.iter().map(|entry| entry.message().text().matches(text).count()).sum()
}

fn told(events: &[Event]) -> Vec<String> {
    let files = events.iter().filter_map(|event| match &event.body {
        EventBody::RulesTold(told) => Some(told.files.clone()),
        _ => None,
    });
    files.flatten().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_a_folder_are_told_once_and_again_after_what_was_told_is_gone() {
    let model = Model::new(Some(200_000), |number, request| match number {
        _ if wants_summary(request) => Reply::Say("## Goal and requirements\n- read\n## Next steps\n- more".to_owned()),
        0 => read("file1.txt"),
        1 | 2 | 6 => read("sub/deep/a.txt"),
        3 => Reply::Say("Read. ".repeat(3000)),
        _ => Reply::Say("Done.".to_owned()),
    });
    let stage = stage(&model);
    stage.write("sub/AGENTS.md", RULE).unwrap();
    stage.write("sub/deep/a.txt", "a\n").unwrap();
    stage.write("other/AGENTS.md", "Never touched.").unwrap();
    let session = stage.open().await.unwrap();
    let id = session.id();
    let events = say(&session, "Read.").await;
    assert_eq!(told(&events), ["sub/AGENTS.md"]);
    let asked = model.asked();
    assert_eq!(asked.iter().map(|request| times(request, RULE)).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert!(asked.iter().all(|request| unpaired(request).is_none() && times(request, "Never touched") == 0));
    session.close().await;

    let session = stage.reopen(id).await.unwrap();
    say(&session, "Go on.").await;
    let receipt = session.send(Command::Compact { focus: None }).await.unwrap();
    until(&session, receipt.seq, |body| matches!(body, EventBody::Compaction(_))).await;
    let events = say(&session, "And again.").await;
    assert_eq!(told(&events), ["sub/AGENTS.md"], "the notes may not have it");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumed_session_is_not_told_again_what_it_has() {
    let model = Model::new(Some(100_000), |number, _| match number {
        0 | 2 => read("sub/a.txt"),
        _ => Reply::Say("Read.".to_owned()),
    });
    let stage = stage(&model);
    stage.write("sub/AGENTS.md", RULE).unwrap();
    stage.write("sub/a.txt", "a\n").unwrap();
    let session = stage.open().await.unwrap();
    let id = session.id();
    assert_eq!(told(&say(&session, "Read.").await).len(), 1);
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    assert_eq!(told(&say(&session, "Read.").await).len(), 0);
    session.close().await;
    assert_eq!(times(model.asked().last().unwrap(), RULE), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn that_a_rules_file_was_not_read_is_told_once_also_after_a_resume() {
    let model = Model::new(Some(100_000), |number, _| match number {
        0 | 2 => read("sub/a.txt"),
        _ => Reply::Say("Read.".to_owned()),
    });
    let stage = stage(&model);
    stage.write("sub/a.txt", "a\n").unwrap();
    // A file that lies outside may not be told.
    std::os::unix::fs::symlink("/etc/passwd", stage.folder().join("sub/AGENTS.md")).unwrap();
    let said = |events: &[Event]| {
        let notices = events.iter().filter_map(|event| match &event.body {
            EventBody::Notification(notice) => Some(&notice.text),
            _ => None,
        });
        notices.filter(|text| text.contains("it was not read")).count()
    };
    let session = stage.open().await.unwrap();
    let id = session.id();
    let events = say(&session, "Read.").await;
    assert_eq!((said(&events), told(&events).len()), (1, 0));
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    assert_eq!(said(&say(&session, "Read.").await), 0);
    session.close().await;
    let asked = model.asked();
    let (first, last) = (times(&asked[1], "it was not read"), times(asked.last().unwrap(), "it was not read"));
    assert!(first > 0 && first == last, "{first}, {last}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_of_folders_stay_within_the_share_of_rules() {
    let model = Model::new(Some(20_000), |number, _| match number {
        0..=9 => read(&format!("sub{number}/a.txt")),
        _ => Reply::Say("Read.".to_owned()),
    });
    let stage = stage(&model);
    for at in 0..10 {
        stage
            .write(&format!("sub{at}/AGENTS.md"), &format!("Rule {at} that goes on for a while.\n").repeat(200))
            .unwrap();
        stage.write(&format!("sub{at}/a.txt"), "a\n").unwrap();
    }
    let session = stage.open().await.unwrap();
    say(&session, "Read.").await;
    session.close().await;
    let last = model.asked().pop().unwrap();
    let words =
        last.history.iter().map(|entry| entry.message().text()).filter(|text| text.contains("Rules of folders"));
    let bytes: usize = words.map(|text| text.len()).sum();
    assert!(bytes < 2_000 * 4 + 10 * 1_000, "{bytes}");
}
