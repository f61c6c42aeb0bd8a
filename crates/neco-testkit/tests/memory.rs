//! Memory from one session to the next: what one kept the other is told, the same again after a
//! resume, and what is worth keeping at the end.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests stop at the first thing that is wrong")]

use neco_model::scripted::{Expect, Script};
use neco_proto::event::{MemoryAction, MemoryScope, MemoryUpdate};
use neco_proto::{Answer, Client, Command, Event, EventBody, PromptReport, Query, Seq};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_testkit::talk;
use serde_json::json;

fn stage(script: Script, extract: bool) -> Stage {
    let files = vec![("a.txt".to_owned(), "hello\n".to_owned())];
    let setup = Setup { guards: false, extract, approval: neco_proto::ApprovalMode::Auto, ..Setup::default() };
    Stage::new(StageSetup { files, script, setup }).unwrap()
}

/// Says something and gives what happens until the work is done.
async fn say(session: &Session, text: &str) -> Vec<Event> {
    let since = last_seq(session).await;
    talk::say(session, text).await.unwrap();
    talk::until(session, since, talk::is_complete).await.unwrap()
}

async fn last_seq(session: &Session) -> Seq {
    match session.ask(Query::Snapshot).await.unwrap() {
        Answer::Snapshot(snapshot) => snapshot.last_seq,
        other => panic!("not what was asked: {other:?}"),
    }
}

async fn prompt(session: &Session) -> PromptReport {
    match session.ask(Query::Prompt).await.unwrap() {
        Answer::Prompt(prompt) => prompt,
        other => panic!("not what was asked: {other:?}"),
    }
}

fn updates(events: &[Event]) -> Vec<MemoryUpdate> {
    let update = |event: &'_ Event| match &event.body {
        EventBody::MemoryUpdate(update) => Some(update.clone()),
        _ => None,
    };
    events.iter().filter_map(update).collect()
}

/// The events of a session that was closed.
async fn log(stage: &Stage, session: &Session) -> Vec<Event> {
    let mut events = Vec::new();
    let hub = stage.hub().await.unwrap();
    hub.each_event(session.id(), |event| events.push(event.clone())).await.unwrap();
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_session_keeps_the_next_is_told_and_so_it_stays() {
    let keeps = json!({
        "title": "Use tabs", "summary": "Indent with tabs, never spaces", "category": "preference",
        "content": "Width four."
    });
    let told = |text: &str| Expect { system_contains: Some(text.to_owned()), ..Expect::default() };
    let script = Script::new()
        .call("memory_store", keeps)
        .say("Noted.")
        .call("memory_search", json!({"query": "tabs"}))
        .expecting(told("Use tabs: Indent with tabs, never spaces"))
        .say("With tabs.")
        .say("Still with tabs.")
        .expecting(told("Use tabs: Indent with tabs, never spaces"));
    let stage = stage(script, false);
    let first = stage.open().await.unwrap();
    let events = say(&first, "from now on use tabs").await;
    let kept = updates(&events);
    assert_eq!(kept.len(), 1, "nothing was there to recall");
    assert_eq!((kept[0].action, kept[0].entries[0].scope), (MemoryAction::Stored, MemoryScope::Global));
    first.close().await;

    let second = stage.open().await.unwrap();
    let _ = prompt(&second).await;
    let events = say(&second, "indent it").await;
    let recalled = updates(&events);
    assert_eq!((recalled.len(), recalled[0].action), (1, MemoryAction::Recalled));
    let before = prompt(&second).await;
    // A note that comes meanwhile changes nothing for this session.
    second.send(Command::UserMessage { content: "# be brief".to_owned(), attachments: Vec::new() }).await.unwrap();
    let id = second.id();
    assert_eq!(system(&prompt(&second).await), system(&before));
    second.close().await;

    let again = stage.reopen(id).await.unwrap();
    assert_eq!(system(&prompt(&again).await), system(&before), "a session that is opened again is told the same");
    let events = say(&again, "go on").await;
    assert!(updates(&events).is_empty(), "nothing is recalled twice");
    again.close().await;
}

fn system(prompt: &PromptReport) -> Vec<String> {
    prompt.system.iter().map(|layer| format!("{} {}", layer.layer, layer.text)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_session_with_work_keeps_what_is_worth_it() {
    let worth = json!({"memories": [
        {"category": "solution", "topic": "greeting", "title": "a.txt says hello", "summary": "It holds one word",
         "content": "", "tags": ["a.txt"], "everywhere": false},
        {"category": "nonsense", "topic": "", "title": "x", "summary": "y", "content": "", "tags": [], "everywhere": true},
    ]});
    let script = Script::new()
        .call("read_file", json!({"path": "a.txt"}))
        .repeat(3)
        .say("It says hello.")
        .say(worth.to_string())
        .usage(100, 20);
    let stage = stage(script, true);
    let session = stage.open().await.unwrap();
    say(&session, "what does it say?").await;
    session.clone().close().await;
    let events = log(&stage, &session).await;
    let kept = updates(&events);
    assert_eq!((kept.len(), kept[0].entries[0].title.as_str()), (1, "a.txt says hello"));
    let text = std::fs::read_to_string(&kept[0].entries[0].path).unwrap();
    let here = stage.folder().canonicalize().unwrap();
    assert!(text.contains(&format!("directory: {}\n", here.display())), "{text}");
    assert!(text.contains(&format!("source: session {}\n", session.id())), "{text}");
    let used: u64 = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Usage(used) => Some(used.usage.input),
            _ => None,
        })
        .sum();
    assert_eq!(used, 100, "the question is counted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_back_that_fails_is_silent() {
    for last in ["this is no JSON", ""] {
        let script = Script::new().call("read_file", json!({"path": "a.txt"})).repeat(3).say("It says hello.");
        // Without another turn the script is used up, and the question fails.
        let script = if last.is_empty() { script } else { script.say(last) };
        let stage = stage(script, true);
        let session = stage.open().await.unwrap();
        say(&session, "what does it say?").await;
        session.clone().close().await;
        let events = log(&stage, &session).await;
        assert!(updates(&events).is_empty());
        assert!(!events.iter().any(|event| matches!(event.body, EventBody::Error(_))));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_without_work_or_without_the_switch_asks_nothing() {
    let calls = || {
        Script::new().call("read_file", json!({"path": "a.txt"})).repeat(3).say("Done.").say("never asked").usage(1, 1)
    };
    for (stage, text) in
        [(stage(Script::new().say("Hi.").say("never asked").usage(1, 1), true), "hi"), (stage(calls(), false), "read")]
    {
        let session = stage.open().await.unwrap();
        say(&session, text).await;
        session.clone().close().await;
        let events = log(&stage, &session).await;
        assert!(!events.iter().any(|event| matches!(event.body, EventBody::MemoryUpdate(_) | EventBody::Usage(_))));
    }
}
