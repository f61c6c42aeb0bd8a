//! An agent whose definition declares inputs is started with them, and its query is its task.

use std::time::Duration;

use neco_model::scripted::{Expect, Script};
use neco_proto::event::CallStatus;
use neco_proto::{ApprovalMode, Event, EventBody};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

use crate::{nodes, part, say, until};

const MIGRATE: &str = "---\nname: migrate\ndescription: Writes one migration.\ninputs:\n  table: string\n  columns: string[]\n  \
                       reversible: { type: boolean, default: true }\nquery: |\n  Change {{ inputs.table }}: {{ inputs.columns | \
                       join(\", \") }}{% if inputs.reversible %}, and back{% endif %}.\n---\nYou write migrations.\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_is_the_task_and_wrong_inputs_start_nobody() {
    let users = || json!({ "table": "users", "columns": ["name", "mail"] });
    let listed = "migrate: Writes one migration. Inputs: columns (string[]), reversible (boolean, true when left out), table (string).";
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "migrate", "task": "", "inputs": { "table": "users" } }))
        .expecting(Expect { system_contains: Some(listed.to_owned()), ..Expect::default() })
        .call("spawn_agent", json!({ "agent": "explore", "task": "look", "inputs": users() }))
        .expecting(Expect {
            last_tool_error: Some(1002),
            ..Expect::tool("The inputs of the agent migrate are: columns (string[])")
        })
        .call("agent__migrate", json!({ "table": "users", "columns": "name" }))
        .expecting(Expect { last_tool_error: Some(1002), ..Expect::tool("the agent explore takes no inputs") })
        .call("agent__migrate", users())
        .expecting(Expect { last_tool_error: Some(1002), ..Expect::default() })
        .call(
            "task",
            json!({ "description": "one more", "prompt": "Be quick.", "agent": "migrate", "inputs": users() }),
        )
        .expecting(Expect::tool("done with names"))
        .say("Both are done.")
        .expecting(Expect::tool("done with names"))
        .loop_last();
    let works = Script::new().say("done with names").expecting(Expect::user("Change users: name, mail, and back."));
    script.agents.push(part("migrate", "Change users", works));
    let files = vec![(".neco/agents/migrate.md".to_owned(), MIGRATE.to_owned())];
    let setup = Setup { approval: ApprovalMode::Auto, ..Setup::default() };
    let stage = Stage::new(StageSetup { files, script, setup }).unwrap();
    let session = stage.open().await.unwrap();
    say(&session, "migrate").await;
    let root = nodes(&session).await[0].id;
    let done = |event: &Event| event.agent_id == root && matches!(&event.body, EventBody::AgentComplete(_));
    let events = tokio::time::timeout(Duration::from_secs(30), until(&session, 0, done)).await.unwrap();
    let said = events.iter().rev().find_map(|event| match &event.body {
        EventBody::AgentComplete(complete) if event.agent_id == root => Some(complete.final_text.clone()),
        _ => None,
    });
    assert_eq!(said.as_deref(), Some("Both are done."), "{events:#?}");
    let ends: Vec<CallStatus> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolCallEnd(end) if event.agent_id == root => Some(end.status),
            _ => None,
        })
        .collect();
    use CallStatus::{Error, Success};
    assert_eq!(ends, [Error, Error, Error, Success, Success]);
    let tasks: Vec<String> = nodes(&session).await.into_iter().skip(1).map(|node| node.task).collect();
    assert_eq!(tasks, ["Change users: name, mail, and back.", "Change users: name, mail, and back.\n\nBe quick."]);
    session.close().await;
}
