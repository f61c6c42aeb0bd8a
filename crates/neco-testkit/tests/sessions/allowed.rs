//! What is done without asking because of rules: a session tells what was allowed in it, and how far that goes.

use futures::StreamExt;
use neco_model::scripted::{AgentPart, Script};
use neco_proto::event::RewindWhat;
use neco_proto::{Answer, Client, Command, Decision, EventBody, GrantedRule, MessagePiece, Query, SessionRules};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use serde_json::json;

use super::{say, stage};

async fn rules(session: &Session) -> SessionRules {
    match session.ask(Query::Rules).await.unwrap() {
        Answer::Rules(rules) => rules,
        other => panic!("not what was asked: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_allowed_for_the_session_is_told_until_it_goes_back() {
    let script = Script::new()
        .call("write_file", json!({ "path": "b.txt", "content": "b\n" }))
        .call("bash", json!({ "command": "touch c.txt" }))
        .say("Done.");
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    assert_eq!(rules(&session).await, SessionRules::default());
    let mut events = session.events(0);
    say(&session, "go").await;
    let mut asked = Vec::new();
    loop {
        match events.next().await.unwrap().unwrap().body {
            EventBody::PermissionRequest(request) => {
                asked.push(request.session_rule.unwrap());
                let command = Command::Approve { call_id: request.call_id, decision: Decision::Session };
                session.send(command).await.unwrap();
            }
            EventBody::AgentComplete(_) => break,
            _ => {}
        }
    }
    assert_eq!(asked.len(), 2, "{asked:?}");
    let told = rules(&session).await;
    assert!(told.granted.iter().all(|rule| rule.agent.is_none()), "{told:?}");
    let allows: Vec<String> = told.granted.into_iter().map(|rule| rule.allows).collect();
    assert_eq!((allows, told.allowing, told.edits), (asked, 2, true));
    let Answer::RewindPoints { points } = session.ask(Query::RewindPoints).await.unwrap() else { panic!("no points") };
    let (message_id, what) = (points[0].message_id, RewindWhat::Conversation);
    session.send(Command::Rewind { message_id, what }).await.unwrap();
    assert_eq!(rules(&session).await, SessionRules::default(), "a rewind forgets it");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_that_a_file_allows_are_known_without_anything_being_allowed_in_the_session() {
    let rule = "[[rule]]\ntool = 'edit_file'\ndecision = 'allow'\n";
    let files = vec![(".neco/policy.toml".to_owned(), rule.to_owned())];
    let setup = Setup { guards: false, ..Setup::default() };
    let stage = Stage::new(StageSetup { files, script: Script::new().say("Hi."), setup }).unwrap();
    let session = stage.open().await.unwrap();
    assert_eq!(rules(&session).await, SessionRules { granted: Vec::new(), allowing: 1, edits: true });
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_agent_was_allowed_is_told_with_its_name() {
    let mut script = Script::new().call("spawn_agent", json!({ "agent": "coder", "task": "make it" })).say("At it.");
    let child = Script::new()
        .call("bash", json!({ "command": "touch one" }))
        .call("bash", json!({ "command": "mkdir two" }))
        .say("It is made.");
    let (role, task) = (Some("coder".to_owned()), Some("make it".to_owned()));
    script.agents.push(AgentPart { role, task, turns: child.turns });
    let stage = stage(script.loop_last());
    let session = stage.open().await.unwrap();
    let mut events = session.events(0);
    say(&session, "go").await;
    let mut allows = None;
    // At the second question of the agent it is still there.
    while let Some(event) = events.next().await {
        let EventBody::PermissionRequest(request) = event.unwrap().body else { continue };
        if request.tool == "bash" && allows.is_some() {
            break;
        }
        let decision = if request.tool == "bash" { Decision::Session } else { Decision::Once };
        if decision == Decision::Session {
            allows = request.session_rule;
        }
        session.send(Command::Approve { call_id: request.call_id, decision }).await.unwrap();
    }
    let Answer::Tree { nodes } = session.ask(Query::Tree).await.unwrap() else { panic!("no tree") };
    let granted = vec![GrantedRule { allows: allows.unwrap(), agent: Some(nodes[1].name.clone()) }];
    assert_eq!(rules(&session).await, SessionRules { granted, allowing: 0, edits: false });
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_allows_holds_for_one_request() {
    let touch = |script: Script| script.call("bash", json!({ "command": "touch b.txt" })).say("Done.");
    let stage = stage(touch(touch(Script::new())));
    let session = stage.open().await.unwrap();
    let mut events = session.events(0);
    let mut asked = Vec::new();
    for is_command in [true, false] {
        match is_command {
            true => drop(session.send(command("go", false)).await.unwrap()),
            false => say(&session, "go").await,
        }
        let mut questions = 0;
        loop {
            match events.next().await.unwrap().unwrap().body {
                EventBody::PermissionRequest(request) => {
                    questions += 1;
                    let command = Command::Approve { call_id: request.call_id, decision: Decision::Once };
                    session.send(command).await.unwrap();
                }
                EventBody::AgentComplete(_) => break,
                _ => {}
            }
        }
        asked.push(questions);
    }
    assert_eq!(asked, [0, 1]);
    assert_eq!(rules(&session).await, SessionRules::default());
    session.close().await;
}

/// A command of the person's own that may make files.
fn command(text: &str, steers: bool) -> Command {
    let (pieces, allow) = (vec![MessagePiece::said(text)], vec!["Bash(touch:*)".to_owned()]);
    Command::CommandMessage { pieces, attachments: Vec::new(), steers, allow, model: None }
}

/// What is asked about in each of so many requests, where all this is said while the first question waits.
async fn asked(session: &Session, requests: usize, meanwhile: Vec<Command>, withdraws: bool) -> Vec<Vec<String>> {
    let (mut events, mut meanwhile) = (session.events(0), meanwhile.into_iter());
    let mut asked = vec![Vec::new()];
    say(session, "go").await;
    loop {
        match events.next().await.unwrap().unwrap().body {
            EventBody::PermissionRequest(request) => {
                for said in meanwhile.by_ref() {
                    let message_ids: Vec<_> = session.send(said).await.unwrap().message_id.into_iter().collect();
                    if withdraws {
                        session.send(Command::Withdraw { message_ids }).await.unwrap();
                    }
                }
                asked.last_mut().unwrap().extend(request.command);
                let approve = Command::Approve { call_id: request.call_id, decision: Decision::Once };
                session.send(approve).await.unwrap();
            }
            EventBody::AgentComplete(_) if asked.len() == requests => return asked,
            EventBody::AgentComplete(_) => asked.push(Vec::new()),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_allows_goes_with_what_it_says_while_the_agent_works() {
    let run = |script: Script, line: &str| script.call("bash", json!({ "command": line }));
    // It joins the request that is at work.
    let joined = stage(run(run(Script::new(), "mkdir one"), "touch b").say("Done."));
    let session = joined.open().await.unwrap();
    assert_eq!(asked(&session, 1, vec![command("and touch", true)], false).await, [["mkdir one"]]);
    session.close().await;
    // It waits behind a message that may nothing.
    let script = run(run(Script::new(), "mkdir one").say("Done."), "touch b").say("Done.");
    let queued = stage(run(script, "touch c").say("Done."));
    let session = queued.open().await.unwrap();
    let plain = Command::UserMessage { content: "plain".to_owned(), attachments: Vec::new() };
    let lists = asked(&session, 3, vec![plain, command("touch", false)], false).await;
    assert_eq!(lists, [vec!["mkdir one"], vec!["touch b"], Vec::new()]);
    session.close().await;
    // It is taken back.
    let withdrawn = stage(run(run(Script::new(), "mkdir one"), "touch b").say("Done."));
    let session = withdrawn.open().await.unwrap();
    assert_eq!(asked(&session, 1, vec![command("touch", false)], true).await, [["mkdir one", "touch b"]]);
    session.close().await;
}
