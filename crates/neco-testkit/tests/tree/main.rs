//! Agents below the root outlive crashes, are told of when they fall silent or flood, and end with their session.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

mod cancelled;
mod inputs;
mod limits;
mod retry;
mod roles;
mod state;

use std::time::Duration;

use futures::StreamExt;
use neco_model::scripted::{AgentPart, Expect, Script};
use neco_proto::event::{AgentNode, Letter, NodeState, Up};
use neco_proto::{AgentOrder, Answer, ApprovalMode, Client, Command, Event, EventBody, Query, Seq};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_testkit::talk;
use neco_view::reduce::IdleTracker;
use serde_json::json;

fn stage(script: Script) -> Stage {
    // That many reports in a row are what a guard would stop.
    let setup = Setup { approval: ApprovalMode::Auto, guards: false, ..Setup::default() };
    Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap()
}

fn part(role: &str, task: &str, script: Script) -> AgentPart {
    AgentPart { role: Some(role.to_owned()), task: Some(task.to_owned()), turns: script.turns }
}

async fn say(session: &Session, text: &str) {
    talk::say(session, text).await.unwrap();
}

async fn nodes(session: &Session) -> Vec<AgentNode> {
    match session.ask(Query::Tree).await.unwrap() {
        Answer::Tree { nodes } => nodes,
        other => panic!("not what was asked: {other:?}"),
    }
}

/// The events until `wanted`, that one included.
async fn until(session: &Session, since: Seq, mut wanted: impl FnMut(&Event) -> bool) -> Vec<Event> {
    let mut stream = session.events(since);
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        let found = wanted(&event);
        seen.push(event);
        if found {
            return seen;
        }
    }
    panic!("it never happened");
}

fn is_state(event: &Event, state: NodeState) -> bool {
    matches!(&event.body, EventBody::AgentUpdate(update) if update.node.state == state)
}

const WAITS: &str = "echo begun; until [ -e go ]; do sleep 0.02; done";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_children_come_back_paused_and_go_on() {
    let mut script = Script::new();
    for number in 1..=10 {
        let task = json!({ "agent": "coder", "task": format!("part {number} of it") });
        script = match number {
            1 => script.call("spawn_agent", task),
            _ => script.also_call("spawn_agent", task),
        };
    }
    let mut script = script.say("All at work.").loop_last();
    let child = || Script::new().call("bash", json!({ "command": WAITS })).say("my part is done");
    script.agents.push(part("coder", "of it", child()));
    let mut later =
        Script::new().say("I see.").expecting(Expect::user("what happened")).say("All of it is done.").loop_last();
    later.agents.push(part("coder", "of it", child()));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let id = session.id();
    say(&session, "do it").await;
    let mut begun = 0;
    until(&session, 0, |event| {
        begun += usize::from(matches!(&event.body, EventBody::ToolOutputChunk(_)));
        begun == 10
    })
    .await;
    // As a crash would leave it: what is in the log so far, and nobody left who could say goodbye.
    let copy = stage.crashed(&later).unwrap();
    let session = copy.reopen(id).await.unwrap();
    let paused = nodes(&session).await;
    assert_eq!(paused.len(), 11);
    assert!(paused.iter().skip(1).all(|node| node.state == NodeState::Paused), "{paused:?}");
    stage.write("go", "now").unwrap();
    let since = session.first_seq();
    say(&session, "what happened?").await;
    let told = until(&session, since, |event| matches!(&event.body, EventBody::AgentComplete(_))).await;
    let stopped = |event: &&Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("the process ended while it worked"));
    assert_eq!(told.iter().filter(stopped).count(), 10, "the parent is told of each");
    for node in paused.iter().skip(1) {
        let resume = Command::AgentCommand { agent_id: node.id, order: AgentOrder::Resume };
        session.send(resume).await.unwrap();
    }
    let mut done = 0;
    until(&session, since, |event| {
        done += usize::from(is_state(event, NodeState::Completed));
        done == 10
    })
    .await;
    let after = nodes(&session).await;
    assert!(after.iter().skip(1).all(|node| node.state == NodeState::Completed), "{after:#?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_that_a_crash_cut_off_together_with_the_root_are_named() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "part of it" }))
        .call("bash", json!({ "command": WAITS }))
        .say("Done.")
        .loop_last();
    let child = Script::new().call("bash", json!({ "command": WAITS })).say("my part is done");
    script.agents.push(part("coder", "of it", child));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "do it").await;
    let mut begun = 0;
    until(&session, 0, |event| {
        begun += usize::from(matches!(&event.body, EventBody::ToolOutputChunk(_)));
        begun == 2
    })
    .await;
    let copy = stage.crashed(&Script::new().say("I see.").loop_last()).unwrap();
    let again = copy.reopen(session.id()).await.unwrap();
    let told = until(&again, again.first_seq(), |event| is_state(event, NodeState::Paused)).await;
    let notices = told.iter().filter_map(|event| match &event.body {
        EventBody::Notification(told) => Some(told.text.as_str()),
        _ => None,
    });
    let notices: Vec<&str> = notices.filter(|text| text.starts_with("Neco was interrupted")).collect();
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].contains("in the middle of a turn"), "{notices:?}");
    assert!(notices[1].contains("while coder-1 worked; it is paused"), "{notices:?}");
    stage.write("go", "now").unwrap();
    again.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_child_is_told_of_and_a_flood_of_reports_is_one() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "the silent one" }))
        .also_call("spawn_agent", json!({ "agent": "coder", "task": "the loud one" }))
        .call("bash", json!({ "command": "until [ -e flooded ]; do sleep 0.02; done" }))
        .say("They are at it.")
        .say("I heard.")
        .expecting(Expect::user("it may hang"))
        .say("Both are done.")
        .loop_last();
    script.agents.push(part("coder", "silent", Script::new().call("bash", json!({ "command": WAITS })).say("quiet")));
    let loud = Script::new()
        .call("report", json!({ "progress": 0.5, "message": "step {n}" }))
        .repeat(15)
        .call("bash", json!({ "command": "touch flooded" }))
        .say("loud");
    script.agents.push(part("coder", "loud", loud));
    let stage = stage(script).with_config(|config| config.agents.max_silence = 0.2);
    let session = stage.open().await.unwrap();
    say(&session, "do both").await;
    let mut rest = IdleTracker::default();
    let mut events = until(&session, 0, |event| {
        rest.apply(event);
        matches!(&event.body, EventBody::AgentMessage(message)
            if matches!(&message.letter, Letter::Up(Up::Stopped { why, .. }) if why.contains("it may hang")))
    })
    .await;
    stage.write("go", "now").unwrap();
    let since = events.last().unwrap().seq;
    events.extend(
        until(&session, since, |event| {
            rest.apply(event);
            rest.is_over()
        })
        .await,
    );
    let reports = |event: &&Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("reports (50 %)"));
    let heard = events.iter().filter(reports).count();
    assert!((1..15).contains(&heard), "{heard} of 15 reports entered the conversation");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_a_silent_child_waits_no_longer() {
    let waits = [
        ("task", json!({ "description": "x", "prompt": "be silent", "agent": "coder" }), "is no longer waited for"),
        ("agent_wait", json!({}), "Nothing was heard for long of: coder-1"),
    ];
    for (tool, arguments, words) in waits {
        let mut script = match tool {
            "task" => Script::new(),
            _ => Script::new().call("spawn_agent", json!({ "agent": "coder", "task": "be silent" })),
        };
        script = script.call(tool, arguments).say("I look after it.").expecting(Expect::tool(words)).loop_last();
        let silent = Script::new().call("bash", json!({ "command": WAITS })).say("late but done");
        script.agents.push(part("coder", "silent", silent));
        let stage = stage(script).with_config(|config| config.agents.max_silence = 0.2);
        let session = stage.open().await.unwrap();
        say(&session, "do it").await;
        let ended = until(&session, 0, |event| matches!(&event.body, EventBody::ToolCallEnd(end) if end.tool == tool));
        let events = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
        let EventBody::ToolCallEnd(end) = &events.last().unwrap().body else { panic!("not an end") };
        assert!(end.output.contains(words), "{}", end.output);
        stage.write("go", "now").unwrap();
        // It goes on, and what it gives follows.
        let told = |event: &Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("coder-1 completed its task:\nlate but done"));
        tokio::time::timeout(Duration::from_secs(30), until(&session, 0, told)).await.unwrap();
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_result_enters_the_parent_as_its_beginning_and_its_end() {
    let mut script = Script::new()
        .call("spawn_agent", json!({ "agent": "coder", "task": "tell me all" }))
        .say("It is at it.")
        .say("I have read it.")
        .expecting(Expect::user("left out; all of it is in"))
        .loop_last();
    let all = "all of it\n".repeat(20_000);
    let tells = Script::new().call("bash", json!({ "command": WAITS })).say(&all);
    script.agents.push(part("coder", "tell me all", tells));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "tell me").await;
    until(&session, 0, |event| matches!(&event.body, EventBody::AgentComplete(_))).await;
    stage.write("go", "now").unwrap();
    let heard = |event: &Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("coder-1 completed"));
    let events = until(&session, 0, heard).await;
    let EventBody::Message(message) = &events.last().unwrap().body else { panic!("no message") };
    let text = message.text();
    assert!(text.len() < 60_000, "{} bytes entered the conversation", text.len());
    let file = text.split_once("all of it is in ").unwrap().1.split_once(", readable").unwrap().0;
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(kept.contains(all.trim_end()), "the file has {} bytes", kept.len());
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_end_with_their_session_and_what_they_run_with_them() {
    let mut script = Script::new().call("spawn_agent", json!({ "agent": "coder", "task": "sleep" })).say("It sleeps.");
    let sleeps = Script::new().call("bash", json!({ "command": "echo $$ > pid; echo begun; sleep 600" }));
    script.agents.push(part("coder", "sleep", sleeps));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    say(&session, "sleep").await;
    until(&session, 0, |event| matches!(&event.body, EventBody::ToolOutputChunk(_))).await;
    let pid = stage.read("pid").unwrap();
    assert!(std::path::Path::new("/proc").join(pid.trim()).exists());
    tokio::time::timeout(Duration::from_secs(20), session.close()).await.unwrap();
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "{pid} still runs");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_with_a_child_at_work_asks_nothing_of_the_root_which_is_told_later() {
    let spawn = json!({ "agent": "coder", "task": "work on" });
    let mut script = Script::new().call("spawn_agent", spawn).say("It works.").say("Nobody asked.").loop_last();
    script.agents.push(part("coder", "work on", Script::new().call("bash", json!({ "command": WAITS })).say("x")));
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let id = session.id();
    say(&session, "do it").await;
    let (mut begun, mut done) = (false, false);
    until(&session, 0, |event| {
        begun |= matches!(&event.body, EventBody::ToolOutputChunk(_));
        done |= matches!(&event.body, EventBody::AgentComplete(_));
        begun && done
    })
    .await;
    session.close().await;
    let copy = stage.crashed(&Script::new().say("I see.").loop_last()).unwrap();
    let session = copy.reopen(id).await.unwrap();
    let last = session.first_seq();
    let before = until(&session, 0, |event| event.seq == last).await;
    let root = before.first().unwrap().agent_id;
    let of_root = |wanted: fn(&EventBody) -> bool| {
        before.iter().filter(|event| event.agent_id == root && wanted(&event.body)).count()
    };
    assert_eq!(of_root(|body| matches!(body, EventBody::TurnStart(_))), 2, "no turn but those that were asked for");
    assert_eq!(of_root(|body| matches!(body, EventBody::AgentComplete(_))), 1);
    say(&session, "what happened?").await;
    let told = |event: &Event| matches!(&event.body, EventBody::Message(message) if message.text().contains("the process ended while it worked"));
    until(&session, last, told).await;
    session.close().await;
}
