//! Agents share values: versioned, kept in the log, gone with what is taken back.

use std::time::Duration;

use neco_model::scripted::{Expect, Script};
use neco_proto::event::{RewindWhat, SharedStateUpdate};
use neco_proto::{Answer, Client, Command, Event, EventBody, Query, SessionSnapshot};
use neco_session::Session;
use serde_json::json;

use crate::{nodes, part, stage, until};

async fn snapshot(session: &Session) -> SessionSnapshot {
    match session.ask(Query::Snapshot).await.unwrap() {
        Answer::Snapshot(snapshot) => snapshot,
        other => panic!("not what was asked: {other:?}"),
    }
}

async fn shared(session: &Session) -> Vec<(String, serde_json::Value, u64, String)> {
    let entry = |entry: SharedStateUpdate| (entry.key, entry.value.unwrap(), entry.version, entry.writer);
    snapshot(session).await.shared.into_iter().map(entry).collect()
}

/// Says something, and gives the root's last words when it is done.
async fn done(session: &Session, text: &str) -> (String, Vec<Event>, neco_proto::MessageId) {
    let since = snapshot(session).await.last_seq;
    let content = text.to_owned();
    let receipt = session.send(Command::UserMessage { content, attachments: Vec::new() }).await.unwrap();
    let root = nodes(session).await[0].id;
    let ended = |event: &Event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_));
    let events = tokio::time::timeout(Duration::from_secs(30), until(session, since, ended)).await.unwrap();
    let Some(EventBody::AgentComplete(complete)) = events.last().map(|event| &event.body) else { panic!("no end") };
    (complete.final_text.clone(), events.clone(), receipt.message_id.unwrap())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// Nothing is shared yet: an agent is declared what sets the first value, and the root is told how that is called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_first_can_know_how_a_value_is_shared() {
    let both = ["state_get", "state_set"];
    let mut script = Script::new()
        .call("task", json!({ "description": "begin", "prompt": "begin the plan", "agent": "explore" }))
        .expecting(Expect { tools_exclude: names(&both), ..Expect::default() })
        .say("It has begun.")
        .expecting(Expect::tool("state_set{key, value} and state_get{key} keep values"));
    let child = Script::new()
        .call("state_set", json!({ "key": "plan", "value": 1 }))
        .expecting(Expect { tools_declared: names(&both), ..Expect::default() })
        .say("I began.")
        .expecting(Expect::tool("plan is at version 1."));
    script.agents.push(part("explore", "begin", child));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let (said, events, _) = done(&session, "begin").await;
    assert_eq!(said, "It has begun.", "{events:#?}");
    assert_eq!(shared(&session).await, [("plan".to_owned(), json!(1), 1, "explore-1".to_owned())]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_shared_has_versions_and_outlives_the_process_but_not_what_is_taken_back() {
    let both = ["state_get", "state_set"];
    let mut script = Script::new()
        .call("state_set", json!({ "key": "plan", "value": { "steps": 2 }, "expected_version": 0 }))
        .expecting(Expect { tools_exclude: names(&both), ..Expect::default() })
        .call("task", json!({ "description": "look", "prompt": "look at the plan", "agent": "explore" }))
        .expecting(Expect::tool("plan is at version 1."))
        .call("state_set", json!({ "key": "plan", "value": { "steps": 9 }, "expected_version": 1 }))
        .expecting(Expect::tool("I made it longer."))
        .call("state_set", json!({ "key": "plan", "value": [1] }))
        .expecting(Expect::tool("plan is at version 2 (by explore-1), and not at 1: somebody else set it meanwhile"))
        .call("state_get", json!({ "key": "review" }))
        .expecting(Expect::tool("plan is an object, and this would be a list"))
        .call("state_get", json!({}))
        .expecting(Expect::tool("there is no value \"review\"; there are: plan"))
        .say("We agree.")
        .expecting(Expect::tool("plan (an object, version 2, by explore-1): {\"steps\":3}"))
        .call("state_set", json!({ "key": "review", "value": "approve" }))
        .also_call("state_set", json!({ "key": "plan", "value": null }))
        .say("Reviewed.");
    let child = Script::new()
        .call("state_get", json!({ "key": "plan" }))
        .expecting(Expect { tools_declared: names(&both), ..Expect::default() })
        .call("state_set", json!({ "key": "plan", "value": { "steps": 3 }, "expected_version": 1 }))
        .expecting(Expect::tool("\"steps\": 2"))
        .say("I made it longer.");
    script.agents.push(part("explore", "plan", child));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let (said, events, _) = done(&session, "agree on a plan").await;
    assert_eq!(said, "We agree.", "{events:#?}");
    let plan = || vec![("plan".to_owned(), json!({ "steps": 3 }), 2, "explore-1".to_owned())];
    assert_eq!(shared(&session).await, plan());
    let (said, events, message_id) = done(&session, "review it").await;
    assert_eq!(said, "Reviewed.", "{events:#?}");
    assert_eq!(shared(&session).await, [("review".to_owned(), json!("approve"), 1, "root".to_owned())]);
    session.send(Command::Rewind { message_id, what: RewindWhat::Conversation }).await.unwrap();
    assert_eq!(shared(&session).await, plan(), "what was set since is taken back");
    let id = session.id();
    session.close().await;
    let later = Script::new().say("It is there.").expecting(Expect { tools_listed: names(&both), ..Expect::default() });
    let session = stage.crashed(&later).unwrap().reopen(id).await.unwrap();
    assert_eq!(shared(&session).await, plan());
    assert_eq!(done(&session, "is the plan still there?").await.0, "It is there.");
    session.close().await;
}
