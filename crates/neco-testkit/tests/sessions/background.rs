//! Commands in the background: sending one there, and what runs there.

use futures::StreamExt;
use neco_model::scripted::Script;
use neco_proto::event::CallStatus;
use neco_proto::{Answer, ApprovalMode, CallId, Client, ClientError, Command, EventBody, Query};
use neco_safety::secrets::{Redactor, Scope};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

use super::say;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_can_go_on_by_itself_is_sent_to_the_background() {
    let script = Script::new()
        .call("bash", json!({ "command": "echo begun; sleep 100" }))
        .call("process", json!({ "action": "wait", "seconds": 100 }))
        .say("Done.");
    let setup = Setup { guards: false, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    let mut events = session.events(session.first_seq());
    say(&session, "go").await;
    let mut refused = None;
    while let Some(event) = events.next().await {
        let background = |call_id: &CallId| session.send(Command::Background { call_id: call_id.clone() });
        match &event.unwrap().body {
            EventBody::ToolOutputChunk(chunk) => background(&chunk.call_id).await.map(drop).unwrap(),
            EventBody::ToolCallUpdate(call) if call.tool == "process" && call.status == CallStatus::Executing => {
                refused = Some(background(&call.call_id).await);
                break;
            }
            _ => {}
        }
    }
    let words = "process: what it does can't go on in the background";
    assert!(matches!(refused, Some(Err(ClientError::Refused(said))) if said == words));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_in_the_background_is_listed_read_and_ended() {
    // What looks like a key is shown nowhere.
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let line = format!("echo begun {key}; sleep 100");
    let script = Script::new().call("bash", json!({ "command": line, "background": true })).say("It runs.");
    let setup = Setup { guards: false, approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    let mut events = session.events(session.first_seq());
    say(&session, "go").await;
    while !matches!(events.next().await.unwrap().unwrap().body, EventBody::AgentComplete(_)) {}
    let listed = async || match session.ask(Query::Background).await.unwrap() {
        Answer::Background { commands } => commands,
        other => panic!("{other:?}"),
    };
    let commands = listed().await;
    let [command] = commands.as_slice() else { panic!("{commands:?}") };
    let mark = Redactor::default().redact(key, Scope::Outside).into_owned();
    assert_ne!(mark, key);
    assert_eq!((command.name.as_str(), command.command.as_str()), ("bg-1", line.replace(key, &mark).as_str()));
    assert!(command.runs(), "{command:?}");
    let (agent_id, name) = (command.agent_id, command.name.clone());
    let output = Query::BackgroundOutput { agent_id, name: name.clone() };
    let Answer::BackgroundOutput { command, tail } = session.ask(output).await.unwrap() else {
        panic!("something else")
    };
    assert_eq!(tail.trim(), format!("begun {mark}"));
    assert!(!command.command.contains(key), "{command:?}");
    session.send(Command::StopBackground { agent_id, name }).await.unwrap();
    assert!(!listed().await[0].runs());
    let none = Command::StopBackground { agent_id, name: "bg-9".to_owned() };
    assert!(matches!(session.send(none).await, Err(ClientError::Refused(words)) if words.contains("bg-9")));
    session.close().await;
}
