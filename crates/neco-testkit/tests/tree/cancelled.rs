//! The root hears of an agent that the person ended when it works next, and the session is at rest meanwhile.

use std::time::Duration;

use neco_model::scripted::Script;
use neco_proto::{AgentOrder, Client, Command, Event, EventBody};
use neco_view::reduce::IdleTracker;
use serde_json::json;

use crate::{WAITS, nodes, part, say, stage, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_the_person_cancels_does_not_wake_the_root() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "the long one" }))
        .say("It is at it.")
        .say("I know.");
    script.agents.push(part("coder", "long", Script::new().call("bash", json!({ "command": WAITS })).say("done")));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "do it").await;
    let mut rest = IdleTracker::default();
    let mut comes = async |since, wanted: fn(&IdleTracker) -> bool| {
        let seen = until(&session, since, |event| {
            rest.apply(event);
            wanted(&rest)
        });
        tokio::time::timeout(Duration::from_secs(30), seen).await.unwrap()
    };
    let begun = comes(0, |rest| rest.root_is_done() && rest.working().next().is_some()).await;
    let (root, child) = match nodes(&session).await.as_slice() {
        [root, child, ..] => (root.id, child.id),
        other => panic!("nobody was started: {other:?}"),
    };
    session.send(Command::AgentCommand { agent_id: child, order: AgentOrder::Cancel }).await.unwrap();
    let ended = comes(begun.last().unwrap().seq, IdleTracker::is_over).await;
    let is_turn = |event: &Event| event.agent_id == root && matches!(event.body, EventBody::TurnStart(_));
    assert!(!ended.iter().any(is_turn), "the person knows what they did");
    say(&session, "and now?").await;
    let told = until(&session, ended.last().unwrap().seq, |event| {
        event.agent_id == root && matches!(event.body, EventBody::AgentComplete(_))
    });
    let told = tokio::time::timeout(Duration::from_secs(30), told).await.unwrap();
    assert_eq!(told.iter().filter(|event| is_turn(event)).count(), 1);
    let is_told = |event: &Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("it was cancelled"));
    assert!(told.iter().any(is_told), "it hears of it with the next message");
    session.close().await;
}
