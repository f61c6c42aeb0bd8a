//! How deep agents nest, and how long they may stay paused.

use std::time::Duration;

use neco_model::scripted::{AgentPart, Expect, Script};
use neco_proto::event::{NodeResult, NodeState};
use neco_proto::{AgentOrder, Client, Command, EventBody};
use serde_json::json;

use crate::{WAITS, is_state, nodes, part, say, stage, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_nest_as_deep_as_the_setting_says() {
    let deeper = || json!({ "description": "deeper", "prompt": "go deeper", "agent": "general" });
    let mut script = Script::new().call("task", deeper()).say("That was deep.").loop_last();
    let turns = Script::new().call("task", deeper()).say("I came back.").turns;
    script.agents.push(AgentPart { role: Some("general".to_owned()), task: None, turns });
    let stage = stage(script).with_config(|config| (config.agents.max_depth, config.agents.max_live) = (20, 40));
    let session = stage.open().await.unwrap();
    say(&session, "how deep is it?").await;
    let root = nodes(&session).await[0].id;
    let done = |event: &neco_proto::Event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_));
    let events = tokio::time::timeout(Duration::from_secs(60), until(&session, 0, done)).await.unwrap();
    let begun =
        |event: &&neco_proto::Event| matches!(&event.body, EventBody::AgentUpdate(update) if update.setup.is_some());
    assert_eq!(events.iter().filter(begun).count(), 20);
    let refused: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallEnd(end) if end.error_code.is_some() => Some(end.output.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("agents may be nested 20 deep"), "{refused:?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_that_lasts_too_long_is_a_failure_that_the_parent_is_told() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "wait for me" }))
        .say("It is at it.")
        .say("Then without it.")
        .expecting(Expect::user("it was paused for 0.3 s, which is as long as a pause may last (agents.max_pause)"))
        .loop_last();
    script.agents.push(part("coder", "wait for me", Script::new().call("bash", json!({ "command": WAITS })).say("x")));
    let stage = stage(script).with_config(|config| config.agents.max_pause = 0.3);
    let session = stage.open().await.unwrap();
    say(&session, "do it").await;
    until(&session, 0, |event| matches!(&event.body, EventBody::ToolOutputChunk(_))).await;
    let agent_id = nodes(&session).await[1].id;
    let order = |order| session.send(Command::AgentCommand { agent_id, order });
    // A pause that ends in time is none that lasts too long, whatever comes after it.
    order(AgentOrder::Pause).await.unwrap();
    order(AgentOrder::Resume).await.unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(nodes(&session).await[1].state, NodeState::Running);
    order(AgentOrder::Pause).await.unwrap();
    let failed = until(&session, 0, |event| is_state(event, NodeState::Failed));
    tokio::time::timeout(Duration::from_secs(30), failed).await.unwrap();
    let Some(NodeResult::Error { message, .. }) = nodes(&session).await[1].result.clone() else { panic!("no error") };
    assert!(message.contains("agents.max_pause"), "{message}");
    let told = |event: &neco_proto::Event| matches!(&event.body, EventBody::AgentComplete(done) if done.final_text == "Then without it.");
    tokio::time::timeout(Duration::from_secs(30), until(&session, 0, told)).await.unwrap();
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_has_no_end_where_nobody_sets_one() {
    let mut script = Script::new().call("spawn_agent", json!({ "agent": "coder", "task": "wait" })).say("At it.");
    script.agents.push(part("coder", "wait", Script::new().call("bash", json!({ "command": WAITS })).say("x")));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "do it").await;
    until(&session, 0, |event| matches!(&event.body, EventBody::ToolOutputChunk(_))).await;
    let agent_id = nodes(&session).await[1].id;
    session.send(Command::AgentCommand { agent_id, order: AgentOrder::Pause }).await.unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(nodes(&session).await[1].state, NodeState::Paused);
    session.close().await;
}
