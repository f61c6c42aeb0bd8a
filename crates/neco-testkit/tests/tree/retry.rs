//! An agent is started over as a whole: those below it end, and it begins its first task anew.

use std::time::Duration;

use neco_model::scripted::{Expect, Fault, Script};
use neco_proto::event::NodeState;
use neco_proto::{AgentOrder, Client, Command, Event, EventBody};
use neco_session::Session;
use serde_json::json;

use crate::{WAITS, is_state, nodes, part, say, stage, until};

async fn retry(session: &Session, agent_id: neco_proto::AgentId) {
    session.send(Command::AgentCommand { agent_id, order: AgentOrder::Retry }).await.unwrap();
}

async fn soon(session: &Session, wanted: impl FnMut(&Event) -> bool) -> Vec<Event> {
    tokio::time::timeout(Duration::from_secs(30), until(session, 0, wanted)).await.unwrap()
}

/// A call of the root runs an agent that starts another one and waits; the person starts it over, and the call gets what
/// the second beginning gives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_agent_begins_anew_without_those_below_it() {
    let mut script = Script::new()
        .call("task", json!({ "description": "mend", "prompt": "mend it all", "agent": "general" }))
        .say("It was mended.")
        .expecting(Expect::tool("mended at the second try"))
        .loop_last();
    // What it plays goes on where it was; what it is asked does not.
    let general = Script::new()
        .call("task", json!({ "description": "wait", "prompt": "wait for it", "agent": "coder" }))
        .say("mended at the second try")
        .expecting(Expect { messages: Some(1), ..Expect::user("mend it all") });
    script.agents.push(part("general", "mend it all", general));
    let coder = Script::new().call("bash", json!({ "command": WAITS })).say("waited");
    script.agents.push(part("coder", "wait for it", coder));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "mend it").await;
    soon(&session, |event| matches!(&event.body, EventBody::ToolOutputChunk(chunk) if chunk.text.contains("begun")))
        .await;
    let before = nodes(&session).await;
    let names: Vec<&str> = before.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["root", "general-1", "coder-1"]);
    retry(&session, before[1].id).await;
    let anew = |event: &Event| matches!(&event.body, EventBody::AgentUpdate(update) if update.anew);
    let events = soon(&session, anew).await;
    let coder = before[2].id;
    let ended = |event: &&Event| event.agent_id == coder && is_state(event, NodeState::Cancelled);
    assert_eq!(events.iter().filter(ended).count(), 1, "the one below it ended");
    let root = before[0].id;
    let events =
        soon(&session, |event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_))).await;
    let Some(EventBody::AgentComplete(complete)) = events.last().map(|event| &event.body) else { panic!("no end") };
    assert_eq!(complete.final_text, "It was mended.");
    let after = nodes(&session).await;
    assert_eq!((after[1].id, after[1].state), (before[1].id, NodeState::Completed), "it is the same agent");
    session.close().await;
}

/// The parent itself starts an agent over that failed; what comes of it is told as always. After a crash it goes on with
/// its new conversation alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_agent_is_tried_again_by_its_parent_and_resumes_where_it_began_anew() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "try it", "max_tokens": 1_000_000 }))
        .say("It is at it.")
        .call("agent_message", json!({ "agent": "coder-1", "kind": "retry" }))
        .expecting(Expect::user("coder-1 failed"))
        .say("Once more.")
        .expecting(Expect::tool("coder-1 begins its task anew"))
        .loop_last();
    let fails = Script::new()
        .fault(Fault::status(400))
        .call("bash", json!({ "command": "echo begun; sleep 600" }))
        .expecting(Expect { messages: Some(1), ..Expect::user("try it") });
    script.agents.push(part("coder", "try it", fails));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let id = session.id();
    say(&session, "do it").await;
    let begun =
        |event: &Event| matches!(&event.body, EventBody::ToolOutputChunk(chunk) if chunk.text.contains("begun"));
    let events = soon(&session, begun).await;
    assert_eq!(events.iter().filter(|event| is_state(event, NodeState::Failed)).count(), 1);
    let agent = nodes(&session).await[1].clone();
    assert_eq!((agent.state, agent.result.clone()), (NodeState::Running, None));
    let mut later = Script::new().say("I see.").loop_last();
    let goes_on = Script::new()
        .say("done at last")
        // The task, its one call of this beginning with the result, and that it was interrupted.
        .expecting(Expect { messages: Some(4), ..Expect::user("Go on with your task where you stopped") })
        .loop_last();
    later.agents.push(part("coder", "try it", goes_on));
    let copy = stage.crashed(&later).unwrap();
    let session_again = copy.reopen(id).await.unwrap();
    let order = Command::AgentCommand { agent_id: agent.id, order: AgentOrder::Resume };
    session_again.send(order).await.unwrap();
    soon(&session_again, |event| event.agent_id == agent.id && is_state(event, NodeState::Completed)).await;
    session_again.close().await;
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_done_its_task_and_the_root_are_not_started_over() {
    let mut script =
        Script::new().call("task", json!({ "description": "look", "prompt": "look", "agent": "explore" })).say("Done.");
    script.agents.push(part("explore", "look", Script::new().say("seen")));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "look").await;
    let root = nodes(&session).await[0].id;
    soon(&session, |event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_))).await;
    let nodes = nodes(&session).await;
    for (agent, words) in
        [(&nodes[0], "can't be started over"), (&nodes[1], "is completed, so it can't be started over")]
    {
        let order = Command::AgentCommand { agent_id: agent.id, order: AgentOrder::Retry };
        let refused = session.send(order).await.unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
    session.close().await;
}
