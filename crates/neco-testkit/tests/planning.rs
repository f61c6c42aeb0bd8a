//! What an agent means to do outlives its session: list, plan, findings and mode are there again, and
//! another session is told of a plan that is not finished.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

use futures::StreamExt;
use neco_model::scripted::{Expect, Script};
use neco_proto::{
    Answer, Client, Command, EventBody, Mode, PlanStatus, Query, Reply, Seq, SessionSnapshot, Subject, TodoStatus,
};
use neco_session::{Session, SessionOptions};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

fn stage(script: Script, setup: Setup) -> Stage {
    Stage::new(StageSetup { files: vec![("a.txt".to_owned(), "hello\n".to_owned())], script, setup }).unwrap()
}

/// Says something and accepts every plan until the work is done.
async fn work(session: &Session, text: &str, since: Seq) {
    let mut stream = session.events(since);
    session.send(Command::UserMessage { content: text.to_owned(), attachments: Vec::new() }).await.unwrap();
    while let Some(event) = stream.next().await {
        match event.unwrap().body {
            EventBody::Question(question) => {
                assert!(matches!(question.subject, Subject::Plan { .. }));
                let reply = Reply::AcceptPlan { approval: None, comments: None };
                session.send(Command::Answer { question_id: question.question_id, reply }).await.unwrap();
            }
            EventBody::AgentComplete(_) => return,
            _ => {}
        }
    }
    panic!("the work never ended");
}

async fn snapshot(session: &Session) -> SessionSnapshot {
    match session.ask(Query::Snapshot).await.unwrap() {
        Answer::Snapshot(snapshot) => snapshot,
        other => panic!("not what was asked: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_plan_findings_and_mode_are_there_again_and_others_are_told() {
    let script = Script::new()
        .call("exit_plan_mode", json!({"plan": "1. look\n2. change\n3. check"}))
        .call(
            "todo_write",
            json!({"todos": [{"id": "1", "status": "in_progress"}, {"id": "1", "status": "completed"}],
            "findings": ["a.txt says hello"]}),
        )
        .say("The first step is done.")
        .say("A new session.")
        .expecting(Expect { messages: Some(2), ..Expect::user("what now?") })
        .call("todo_write", json!({"todos": [{"id": "2", "status": "in_progress"}]}))
        .say("Going on.")
        .expecting(Expect::tool("[x] 1: look\n[>] 2: change"));
    let stage = stage(script, Setup { mode: Mode::Plan, ..Setup::default() });
    let session = stage.open().await.unwrap();
    let id = session.id();
    work(&session, "plan it", session.first_seq()).await;
    let before = snapshot(&session).await;
    assert_eq!((before.mode, before.plan.as_ref().unwrap().status), (Mode::Agent, PlanStatus::Accepted));
    session.close().await;

    let other = stage.open().await.unwrap();
    work(&other, "what now?", other.first_seq()).await;
    let Answer::Messages { messages } = other.ask(Query::Messages).await.unwrap() else { panic!("not what was asked") };
    let told = messages[0].text();
    assert!(messages[0].is_neco() && told.contains("left a plan unfinished"), "{told}");
    assert!(told.contains("[x] 1. look\n[ ] 2. change") && told.contains("- a.txt says hello"), "{told}");
    other.close().await;
    // Told once: the model of a third session knows no more than its person.
    let third = stage.open().await.unwrap();
    let Answer::Messages { messages } = third.ask(Query::Messages).await.unwrap() else { panic!("not what was asked") };
    assert!(messages.is_empty(), "{messages:?}");
    third.close().await;

    let session = stage.reopen(id).await.unwrap();
    let after = snapshot(&session).await;
    assert_eq!((after.mode, &after.todos, &after.plan), (before.mode, &before.todos, &before.plan));
    assert_eq!(after.findings, ["a.txt says hello"]);
    work(&session, "continue", session.first_seq()).await;
    let todos = snapshot(&session).await.todos;
    assert_eq!(todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count(), 1);
    session.close().await;
}

/// Failures that a session had before it was left count when it goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guards_know_again_what_they_knew() {
    let read = json!({"path": "a.txt"});
    let script = Script::new()
        .call("read_file", read.clone())
        .repeat(4)
        .say("That is enough for now.")
        .call("read_file", read)
        .repeat(5)
        .say("Done.");
    let told = |resumes: bool, script: Script| async move {
        let stage = stage(script, Setup { person: false, ..Setup::default() });
        let mut session = stage.open().await.unwrap();
        work(&session, "look around", session.first_seq()).await;
        if resumes {
            let id = session.id();
            session.close().await;
            session = stage.reopen(id).await.unwrap();
        }
        let since = snapshot(&session).await.last_seq;
        work(&session, "look again", since).await;
        let Answer::Messages { messages } = session.ask(Query::Messages).await.unwrap() else { panic!("no messages") };
        session.close().await;
        messages.iter().map(|message| message.text()).collect::<Vec<_>>()
    };
    assert_eq!(told(true, script.clone()).await, told(false, script).await);
}

/// Whoever asks for a plan gets one, also where the agent had gone into plan mode by itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_mode_that_was_asked_for_carries_nothing_out() {
    let script = Script::new()
        .call("enter_plan_mode", json!({"reason": "it is unclear"}))
        .say("I stop here for today.")
        .call("exit_plan_mode", json!({"plan": "1. Write b.txt"}))
        .say("Never said.");
    let stage = stage(script, Setup { person: false, guards: false, ..Setup::default() });
    let session = stage.open().await.unwrap();
    let id = session.id();
    work(&session, "change all of it", session.first_seq()).await;
    session.close().await;

    let hub = stage.hub().await.unwrap();
    let record = hub.find(&id.to_string()).await.unwrap();
    let options = SessionOptions { mode: Some(Mode::Plan), ..stage.options() };
    let session = hub.open(record, options).await.unwrap();
    work(&session, "make a plan", session.first_seq()).await;
    let after = snapshot(&session).await;
    assert_eq!((after.mode, after.plan.unwrap().status), (Mode::Plan, PlanStatus::Proposed));
    session.close().await;
}
