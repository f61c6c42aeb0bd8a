//! Every scenario as an editor sees it: recorded logs in, messages of the protocol out. What an editor is told is what
//! happened, as it happens and when it is loaded.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "what a test does not expect fails it")]

mod editor;
mod program;
mod protocol;
mod told;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use std::sync::Arc;

use neco_acp::CheckPictures;
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::CallStatus;
use neco_proto::rewinds::Rewinds;
use neco_proto::{Event, EventBody, MessageId, Reply};
use serde_json::{Value, json};

use editor::Editor;
use program::Gate;
use tokio::sync::watch;
use told::holds;

/// The recorded logs, by the names of their scenarios.
fn logs() -> Vec<(String, Vec<Event>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view/logs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        (name, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    };
    paths.into_iter().map(read).collect()
}

#[tokio::test]
async fn an_editor_that_follows_a_scenario_is_told_what_happens() {
    for (name, events) in logs() {
        let mut editor = Editor::of(&name, events.clone()).await;
        let session = editor.new_session().await;
        let updates = editor.follow(&session).await;
        holds(&name, &events, &updates);
        editor.leave().await;
    }
}

#[tokio::test]
async fn an_editor_that_loads_a_scenario_is_told_what_counts() {
    for (name, events) in logs() {
        let mut rewinds = Rewinds::default();
        events.iter().for_each(|event| rewinds.note(event));
        let counting = rewinds.effective(events.last().unwrap().seq);
        let counts: Vec<Event> = events.iter().filter(|event| counting.counts(event.seq)).cloned().collect();
        let mut editor = Editor::of(&name, events).await;
        let updates = editor.load().await;
        holds(&name, &counts, &updates);
        editor.leave().await;
    }
}

/// What an editor shows in the end: messages as they read, and calls with all that was told of them.
fn shown(updates: &[Value]) -> Vec<Value> {
    let mut shown: Vec<Value> = Vec::new();
    for update in updates {
        let kind = update["sessionUpdate"].as_str().unwrap();
        match kind {
            "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
                let is_same = |last: &&mut Value| {
                    last["kind"] == kind && last["messageId"] == update["messageId"] && last["text"].is_string()
                };
                let text = update["content"]["text"].as_str();
                match (shown.last_mut().filter(is_same), text) {
                    (Some(last), Some(text)) => {
                        last["text"] = (last["text"].as_str().unwrap().to_owned() + text).into()
                    }
                    _ => shown.push(json!({
                        "kind": kind, "messageId": update["messageId"], "text": text,
                        "content": text.is_none().then(|| update["content"].clone()),
                    })),
                }
            }
            "tool_call" | "tool_call_update" => {
                let known = shown.iter_mut().find(|known| known["toolCallId"] == update["toolCallId"]);
                match known {
                    Some(known) => {
                        for (name, value) in
                            update.as_object().unwrap().iter().filter(|(name, _)| *name != "sessionUpdate")
                        {
                            known[name] = value.clone();
                        }
                    }
                    None => {
                        assert_eq!(kind, "tool_call", "an update of a call that nobody knows: {update}");
                        let mut call = update.clone();
                        call.as_object_mut().unwrap().remove("sessionUpdate");
                        shown.push(call);
                    }
                }
            }
            // How things stand is told whenever they change.
            _ => {}
        }
    }
    shown
}

/// Whether something was gone back over, begun anew by a model, said and never read, or asked and never answered: whoever
/// was there has seen that.
fn is_only_seen_live(events: &[Event]) -> bool {
    let is_read = |message: MessageId| {
        events.iter().any(|event| matches!(&event.body, EventBody::Message(read) if read.id == message))
    };
    events.iter().any(|event| match &event.body {
        EventBody::Rewind(_) => true,
        // What was asked in words and never answered is told as long as it is open.
        EventBody::QuestionAnswer(answer) => matches!(answer.reply, None | Some(Reply::Dismiss)),
        EventBody::ModelRetry(retry) => retry.discards,
        EventBody::ModelSwitch(switch) => switch.discards,
        EventBody::MessageQueued(queued) => !is_read(queued.message.id),
        // It speaks between the person's first words and the agent's reading them.
        EventBody::HookRun(run) => run.event.to_string() == "SessionStart" && run.message.is_some(),
        _ => false,
    })
}

#[tokio::test]
async fn a_session_that_is_loaded_shows_what_whoever_followed_it_has_seen() {
    let mut differs = Vec::new();
    for (name, events) in logs() {
        if is_only_seen_live(&events) {
            continue;
        }
        let mut editor = Editor::of(&name, events.clone()).await;
        let session = editor.new_session().await;
        let followed = shown(&editor.follow(&session).await);
        let mut other = Editor::of(&name, events).await;
        let loaded = shown(&other.load().await);
        let differ = followed.iter().zip(&loaded).find(|(followed, loaded)| followed != loaded);
        if differ.is_some() || followed.len() != loaded.len() {
            eprintln!("{name}: {differ:#?}\n{} and {}", followed.len(), loaded.len());
            differs.push(name.clone());
        }
        editor.leave().await;
        other.leave().await;
    }
    assert!(differs.is_empty(), "{differs:?}");
}

/// The first log.
fn first() -> (String, Vec<Event>) {
    logs().remove(0)
}

/// Set when pictures may be checked to the end.
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

#[tokio::test]
async fn a_prompt_that_takes_long_to_be_read_holds_nothing_else_up() {
    let slowly: CheckPictures = |_| {
        // Where everything waits for this, it ends some time.
        for _ in 0..2000 {
            if IS_ALLOWED.load(Ordering::Acquire) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(IS_ALLOWED.load(Ordering::Acquire), "nothing else was answered meanwhile");
        Err(AppError::new(Trouble::Invalid, "picture 1 of the message is damaged"))
    };
    let (name, events) = first();
    let mut editor = Editor::with(&name, events, json!({}), slowly).await;
    let session = editor.new_session().await;
    let picture = json!([{ "type": "image", "mimeType": "image/png", "data": "x" }]);
    let prompt = editor.begin("session/prompt", json!({ "sessionId": session, "prompt": picture })).await;
    let list = editor.begin("session/list", json!({})).await;
    editor.answer(list).await;
    IS_ALLOWED.store(true, Ordering::Release);
    let answer = editor.answer(prompt).await;
    assert_eq!(answer["error"]["message"], "picture 1 of the message is damaged");
    editor.leave().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_done_after_it_was_stopped_is_told_with_the_next_prompt() {
    let (name, events) = logs().into_iter().find(|(name, _)| name == "no-notes").unwrap();
    let first = |fits: &dyn Fn(&EventBody) -> bool| events.iter().find(|event| fits(&event.body)).unwrap().seq;
    let runs = first(&|body| matches!(body, EventBody::ToolCallUpdate(told) if told.status == CallStatus::Executing));
    let over = first(&|body| matches!(body, EventBody::AgentComplete(_)));
    let last = events.last().unwrap().seq;
    let gate = Arc::new(Gate { until: watch::Sender::new(2), said: watch::Sender::new(0) });
    let mut editor = Editor::at_gate(&name, events.clone(), &gate).await;
    let session = editor.new_session().await;
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "go" }] });
    let is_said = async |times| drop(gate.said.subscribe().wait_for(|said| *said == times).await.unwrap());
    let stopped = editor.begin("session/prompt", prompt.clone()).await;
    is_said(1).await;
    gate.until.send_replace(runs);
    let mut told = Vec::new();
    while !told.iter().any(|update: &Value| update["status"] == "in_progress") {
        // Whatever is answered comes behind what was told.
        let asked = editor.begin("session/list", json!({})).await;
        editor.answer(asked).await;
        told.extend(editor.told());
    }
    editor.notify("session/cancel", json!({ "sessionId": session })).await;
    assert_eq!(editor.answer(stopped).await["result"]["stopReason"], "cancelled");
    gate.until.send_replace(over);
    let next = editor.begin("session/prompt", prompt).await;
    is_said(2).await;
    editor.told();
    gate.until.send_replace(last);
    assert_eq!(editor.answer(next).await["result"]["stopReason"], "end_turn");
    let told = editor.told();
    let late = told.iter().find_map(|update| update["content"]["text"].as_str()?.split_once("was done all the same: "));
    let title = told_titles(&events);
    assert!(late.is_some_and(|(_, done)| done.trim() == title), "{title}: {told:#?}");
    editor.leave().await;
}

/// What the calls of a log are called, of those that did what they should.
fn told_titles(events: &[Event]) -> String {
    let done = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) if end.status == CallStatus::Success => Some(end.summary.clone()),
        _ => None,
    });
    done.collect::<Vec<_>>().join("; ")
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_over_at_once_needs_no_terminal() {
    let runs = |event: &Event| matches!(&event.body, EventBody::ToolCallUpdate(told) if told.tool == "bash");
    let mut with_commands = 0;
    for (name, events) in logs() {
        with_commands += usize::from(events.iter().any(runs));
        let mut editor = Editor::with(&name, events, json!({ "terminal": true }), |_| Ok(Vec::new())).await;
        let session = editor.new_session().await;
        editor.follow(&session).await;
        assert!(editor.wanted.iter().all(|method| method != "terminal/create"), "{name}: {:?}", editor.wanted);
        editor.leave().await;
    }
    assert!(with_commands > 3);
}
