//! Going back in a session that is open, and taking that back.

use std::time::Duration;

use futures::StreamExt;
use neco_model::scripted::Script;
use neco_proto::event::{CallStatus, RewindWhat};
use neco_proto::{
    Answer, ApprovalMode, Client, ClientError, Command, Event, EventBody, ItemAnswer, Query, Reply, RewindKind,
    RewindPoint, Role,
};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

use super::{say, until_complete};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn going_back_over_what_others_changed_needs_a_second_word() {
    let script = Script::new()
        .call("write_file", json!({ "path": "new.txt", "content": "mine" }))
        .call("write_file", json!({ "path": "two.txt", "content": "mine too" }))
        .say("Written.")
        .say("Still here.");
    let setup = Setup { guards: false, checkpoints: true, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "write it").await;
    let events = until_complete(&session, 0).await;
    let message_id = events.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User && !message.is_neco() => Some(message.id),
        _ => None,
    });
    let back = Command::Rewind { message_id: message_id.unwrap(), what: RewindWhat::Files };
    stage.write("new.txt", "somebody's").unwrap();
    let refused = session.send(back.clone()).await;
    assert!(matches!(&refused, Err(ClientError::Refused(words)) if words.contains("new.txt")), "{refused:?}");
    assert_eq!(stage.read("new.txt").unwrap(), "somebody's", "nothing was done");
    stage.write("two.txt", "written since").unwrap();
    stage.write("other.txt", "nobody but others wrote it").unwrap();
    let refused = session.send(back.clone()).await;
    let is_named = |words: &str| words.contains("two.txt") && !words.contains("other.txt");
    assert!(matches!(&refused, Err(ClientError::Refused(words)) if is_named(words)), "{refused:?}");
    session.send(back.clone()).await.unwrap();
    assert!(stage.read("new.txt").is_err() && stage.read("two.txt").is_err());
    assert_eq!(stage.read("other.txt").unwrap(), "nobody but others wrote it", "it is left to them");
    session.send(Command::UndoRewind).await.unwrap();
    assert_eq!(stage.read("two.txt").unwrap(), "written since", "it was kept before it went");
    let Answer::Snapshot(snapshot) = session.ask(Query::Snapshot).await.unwrap() else { panic!("no snapshot") };
    let since = snapshot.last_seq;
    say(&session, "are you there?").await;
    until_complete(&session, since).await;
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_changed_no_file_comes_forth_again_after_one_that_did() {
    let script = Script::new()
        .call("write_file", json!({ "path": "one.txt", "content": "one" }))
        .say("One.")
        .say("Nothing but words.");
    let setup = Setup { guards: false, checkpoints: true, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "write one").await;
    until_complete(&session, 0).await;
    let Answer::Snapshot(snapshot) = session.ask(Query::Snapshot).await.unwrap() else { panic!("no snapshot") };
    say(&session, "explain it").await;
    until_complete(&session, snapshot.last_seq).await;
    for text in ["explain it", "write one"] {
        let Answer::RewindPreview(back) = session.ask(Query::BackPreview).await.unwrap() else { panic!("no preview") };
        assert_eq!((back.kind, back.about.as_str()), (RewindKind::Message, text));
        session.send(Command::Rewind { message_id: back.message_id, what: back.what }).await.unwrap();
    }
    assert!(stage.read("one.txt").is_err());
    for text in ["write one", "explain it"] {
        let Answer::RewindPreview(forth) = session.ask(Query::ForthPreview).await.unwrap() else {
            panic!("no preview")
        };
        assert_eq!((forth.kind, forth.about.as_str()), (RewindKind::Undo, text));
        session.send(Command::UndoRewind).await.unwrap();
        assert!(stage.read("one.txt").is_ok());
    }
    let Answer::RewindPoints { points } = session.ask(Query::RewindPoints).await.unwrap() else { panic!("no points") };
    assert_eq!(points.iter().map(|point| point.text.as_str()).collect::<Vec<_>>(), ["write one", "explain it"]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_over_what_was_said_since_is_shown_first() {
    let script = Script::new()
        .call("write_file", json!({ "path": "one.txt", "content": "one" }))
        .say("One.")
        .call("write_file", json!({ "path": "two.txt", "content": "two" }))
        .say("Two.")
        .say("Nothing more.");
    let setup = Setup { guards: false, checkpoints: true, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "write one").await;
    until_complete(&session, 0).await;
    let points = || async {
        match session.ask(Query::RewindPoints).await.unwrap() {
            Answer::RewindPoints { points } => points,
            other => panic!("{other:?}"),
        }
    };
    let back = Command::Rewind { message_id: points().await[0].message_id, what: RewindWhat::Both };
    session.send(back).await.unwrap();
    // Nothing was said since: nobody has to see anything first.
    session.send(Command::UndoRewind).await.unwrap();
    assert!(stage.read("one.txt").is_ok());
    session.send(Command::RedoRewind).await.unwrap();
    assert!(stage.read("one.txt").is_err());
    let Answer::Snapshot(snapshot) = session.ask(Query::Snapshot).await.unwrap() else { panic!("no snapshot") };
    say(&session, "write two").await;
    until_complete(&session, snapshot.last_seq).await;
    let refused = session.send(Command::UndoRewind).await.unwrap_err().to_string();
    assert!(
        refused.contains("“write two” would be removed from the conversation") && refused.contains("do it again"),
        "{refused}"
    );
    assert!(stage.read("two.txt").is_ok());
    let Answer::RewindPreview(preview) = session.ask(Query::UndoPreview).await.unwrap() else { panic!("no preview") };
    assert_eq!((preview.kind, preview.about.as_str()), (RewindKind::Undo, "write one"));
    let texts = |points: &[RewindPoint]| points.iter().map(|point| point.text.clone()).collect::<Vec<_>>();
    assert_eq!((texts(&preview.messages), texts(&preview.again)), (vec!["write two".into()], vec!["write one".into()]));
    session.send(Command::UndoRewind).await.unwrap();
    assert!(stage.read("one.txt").is_ok() && stage.read("two.txt").is_err());
    // A state by its name, and back from it.
    let Answer::Checkpoints { checkpoints } = session.ask(Query::Checkpoints).await.unwrap() else { panic!("none") };
    let rev = checkpoints[0].rev.get(..12).unwrap().to_owned();
    session.send(Command::RestoreCheckpoint { rev }).await.unwrap();
    assert!(stage.read("one.txt").is_err());
    assert_eq!(texts(&points().await), ["write one"], "the conversation stays");
    session.send(Command::UndoRewind).await.unwrap();
    assert!(stage.read("one.txt").is_ok());
    // What is said between a look and the command refuses it once.
    let (message_id, what) = (points().await[0].message_id, RewindWhat::Conversation);
    session.ask(Query::RewindPreview { message_id, what }).await.unwrap();
    let Answer::Snapshot(snapshot) = session.ask(Query::Snapshot).await.unwrap() else { panic!("no snapshot") };
    say(&session, "from another window").await;
    until_complete(&session, snapshot.last_seq).await;
    let refused = session.send(Command::Rewind { message_id, what }).await.unwrap_err().to_string();
    assert!(refused.contains("“from another window” would be removed from the conversation"), "{refused}");
    session.send(Command::Rewind { message_id, what }).await.unwrap();
    let none = session.send(Command::RestoreCheckpoint { rev: "nothing".to_owned() }).await.unwrap_err().to_string();
    assert!(none.contains("nor the name of a checkpoint"), "{none}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_wrote_while_a_command_ran_is_named_before_it_goes() {
    let script = Script::new()
        .call("write_file", json!({ "path": "tool.txt", "content": "mine" }))
        .also_call("bash", json!({ "command": "until [ -e go ]; do sleep 0.02; done" }))
        .say("Done.");
    let setup = Setup { guards: false, checkpoints: true, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "do it").await;
    let mut stream = session.events(0);
    let is_running = |event: &Event| {
        let EventBody::ToolCallUpdate(update) = &event.body else { return false };
        update.tool == "bash" && update.status == CallStatus::Executing
    };
    while !is_running(&stream.next().await.unwrap().unwrap()) {}
    stage.write("notes.txt", "by hand").unwrap();
    stage.write("go", "").unwrap();
    let events = until_complete(&session, 0).await;
    let message_id = events.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User && !message.is_neco() => Some(message.id),
        _ => None,
    });
    let asked = Query::RewindPreview { message_id: message_id.unwrap(), what: RewindWhat::Both };
    let Answer::RewindPreview(preview) = session.ask(asked).await.unwrap() else { panic!("no preview") };
    let unsure: Vec<(&str, bool)> = preview.files.iter().map(|file| (file.path.as_str(), file.unsure)).collect();
    assert_eq!(unsure, [("go", true), ("notes.txt", true), ("tool.txt", false)]);
    assert!(preview.files.iter().all(|file| !file.by_others));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_put_in_the_place_of_a_file_that_a_tool_deleted_is_asked_about() {
    let script = Script::new()
        .call("read_file", json!({ "path": "a.txt" }))
        .call("delete_file", json!({ "path": "a.txt" }))
        .call("ask_user", json!({ "questions": [{ "question": "And now?" }] }))
        .say("Done.");
    let setup = Setup { guards: false, checkpoints: true, approval: ApprovalMode::Auto, ..Setup::default() };
    let files = vec![("a.txt".to_owned(), "first\n".to_owned())];
    let stage = Stage::new(StageSetup { files, script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "tidy up").await;
    let mut stream = session.events(0);
    let question_id = loop {
        if let EventBody::Question(question) = stream.next().await.unwrap().unwrap().body {
            break question.question_id;
        }
    };
    assert!(stage.read("a.txt").is_err(), "it is deleted");
    // The clock of a file system may be a little behind: what follows a call at once may be the call's.
    tokio::time::sleep(Duration::from_millis(100)).await;
    stage.write("a.txt", "by hand").unwrap();
    stage.write("notes.txt", "by hand too").unwrap();
    let reply = Reply::Choices { answers: vec![ItemAnswer { chosen: Vec::new(), text: Some("Nothing.".to_owned()) }] };
    session.send(Command::Answer { question_id, reply }).await.unwrap();
    let events = until_complete(&session, 0).await;
    let message_id = events.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User && !message.is_neco() => Some(message.id),
        _ => None,
    });
    let back = Command::Rewind { message_id: message_id.unwrap(), what: RewindWhat::Both };
    let refused = session.send(back.clone()).await;
    let is_named = |words: &str| words.contains("a.txt") && !words.contains("notes.txt");
    assert!(matches!(&refused, Err(ClientError::Refused(words)) if is_named(words)), "{refused:?}");
    assert_eq!(stage.read("a.txt").unwrap(), "by hand", "nothing was done");
    session.send(back).await.unwrap();
    assert_eq!(stage.read("a.txt").unwrap(), "first\n");
    assert_eq!(stage.read("notes.txt").unwrap(), "by hand too", "it is left to them");
    session.close().await;
}
