//! Sessions: what is written is there again, what was cut off is mended, every window sees everything.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

mod allowed;
mod background;
mod going_back;

use futures::StreamExt;
use neco_model::scripted::{Expect, Script};
use neco_proto::event::{AgentState, AskedAhead, CallStatus, Says, StreamChunk, ToolCallUpdate, TurnStart};
use neco_proto::{
    Actor, AgentId, Answer, Client, ClientError, Command, Decision, ErrorCode, Event, EventBody, Message, Part, Query,
    Risk, Role, Seq, SessionId, ToolCall, TurnId,
};
use neco_session::{Session, SessionError};
use neco_store::{Catalog, Durability, SessionRecord, SqliteStore, lease_and_append};
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_testkit::talk;
use serde_json::json;

fn stage(script: Script) -> Stage {
    let files = vec![("a.txt".to_owned(), "hello\n".to_owned())];
    // What a guard has to say is not what these are about.
    Stage::new(StageSetup { files, script, setup: Setup { guards: false, ..Setup::default() } }).unwrap()
}

async fn say(session: &Session, text: &str) {
    talk::say(session, text).await.unwrap();
}

/// Events after `since` up to and including the next completion.
async fn until_complete(session: &Session, since: Seq) -> Vec<Event> {
    talk::until(session, since, talk::is_complete).await.unwrap()
}

async fn messages(session: &Session) -> Vec<Message> {
    match session.ask(Query::Messages).await.unwrap() {
        Answer::Messages { messages } => messages,
        other => panic!("not what was asked: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_on_where_it_was_left() {
    let script = Script::new()
        .call("read_file", json!({"path": "a.txt"}))
        .say("It says hello.")
        .say("I remember.")
        .expecting(Expect { messages: Some(5), ..Expect::user("remember") });
    let stage = stage(script);
    let session = stage.open().await.unwrap();
    let id = session.id();
    say(&session, "what does a.txt say?").await;
    until_complete(&session, 0).await;
    let before = messages(&session).await;
    session.close().await;

    let session = stage.reopen(id).await.unwrap();
    let texts = |messages: &[Message]| messages.iter().map(|message| message.parts.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&messages(&session).await), texts(&before));
    let since = session.first_seq();
    say(&session, "do you remember?").await;
    let events = until_complete(&session, since).await;
    let EventBody::AgentComplete(complete) = &events.last().unwrap().body else { panic!("no completion") };
    assert_eq!(complete.final_text, "I remember.");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_window_sees_every_event_once_and_in_order() {
    let stage = stage(Script::new().call("read_file", json!({"path": "a.txt"})).repeat(40).say("Done."));
    let session = stage.open().await.unwrap();
    let early = session.events(0);
    say(&session, "read it forty times").await;
    let all = until_complete(&session, 0).await;
    let seqs: Vec<Seq> = all.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=seqs.len() as Seq).collect::<Vec<_>>());
    let watched: Vec<Event> = early.take(all.len()).map(Result::unwrap).collect().await;
    assert_eq!(watched, all);
    let late = until_complete(&session, 10).await;
    assert_eq!(late, all[10..]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_open_once_and_streams_end_with_it() {
    let stage = stage(Script::new().say("Hi."));
    let session = stage.open().await.unwrap();
    let refused = stage.reopen(session.id()).await.err().unwrap();
    assert!(refused.contains(&std::process::id().to_string()), "{refused}");
    let stream = session.events(0);
    let id = session.id();
    // The stream ends although this window still holds the session.
    session.clone().close().await;
    let seen = stream.count().await;
    assert!(seen >= 1);
    assert_eq!(session.events(0).count().await, seen, "a stream opened after the end ends too");
    stage.reopen(id).await.unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_pieces_loses_none() {
    let text: String = (0..1000).map(|n| format!("{n:04} ")).collect();
    let stage = stage(Script::new().say(text.trim()).in_pieces_of(1));
    let session = stage.open().await.unwrap();
    say(&session, "count").await;
    let events = until_complete(&session, 0).await;
    let shown: String = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::StreamChunk(chunk) => Some(chunk.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, text.trim());
    assert_eq!(messages(&session).await.last().map(Message::text).as_deref(), Some(text.trim()));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_left_unanswered_is_told() {
    let stage = stage(Script::new().say("Hi."));
    let id = DeadSession::new().with(EventBody::Message(Message::user("are you there?"))).bury(&stage).await;
    let session = stage.reopen(id).await.unwrap();
    let events: Vec<Event> = session.events(session.first_seq()).take(2).map(Result::unwrap).collect().await;
    assert!(events.iter().any(|event| matches!(&event.body, EventBody::Notification(_))), "{events:?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_in_words() {
    let stage = stage(Script::new().say("Hi."));
    let session = stage.open().await.unwrap();
    let decision = Command::Approve { call_id: "nothing".into(), decision: Decision::Once };
    assert!(matches!(session.send(decision).await, Err(ClientError::Refused(words)) if words.contains("nothing")));
    let empty = Command::UserMessage { content: "  ".to_owned(), attachments: Vec::new() };
    assert!(matches!(session.send(empty).await, Err(ClientError::Refused(_))));
    let model = Command::SetModel { model: "nobody/nothing".to_owned() };
    assert!(matches!(session.send(model).await, Err(ClientError::Refused(words)) if words.contains("nobody")));
    let missing = stage.hub().await.unwrap().find("ffffffff").await;
    assert!(matches!(missing, Err(SessionError::NotFound(_))));
    session.close().await;
}

/// The log of a process that was killed at some moment, written as it would have been.
struct DeadSession {
    id: SessionId,
    agent: AgentId,
    turn: TurnId,
    events: Vec<Event>,
}

impl DeadSession {
    fn new() -> Self {
        Self { id: SessionId::new(), agent: AgentId::new(), turn: TurnId::new(), events: Vec::new() }
    }

    fn with(mut self, body: EventBody) -> Self {
        self.events.push(Event::new(
            self.events.len() as Seq + 1,
            jiff::Timestamp::UNIX_EPOCH,
            self.id,
            self.agent,
            Some(self.turn),
            body,
        ));
        self
    }

    async fn bury(self, stage: &Stage) -> SessionId {
        let store = SqliteStore::open(&stage.database()).await.unwrap();
        let cwd = stage.folder().canonicalize().unwrap().display().to_string();
        let record = SessionRecord { title: "dead".to_owned(), ..SessionRecord::new(self.id, cwd, 1) };
        store.create(record).await.unwrap();
        lease_and_append(&store, self.events, Durability::Now).await.unwrap();
        self.id
    }
}

fn assistant_calls(calls: &[(&str, &str, &str)]) -> EventBody {
    let part = |(id, name, arguments): &(&str, &str, &str)| {
        Part::ToolCall(ToolCall {
            id: (*id).into(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
            opaque: None,
        })
    };
    EventBody::Message(Message::new(Role::Assistant, calls.iter().map(part).collect()))
}

fn executing(id: &str) -> EventBody {
    EventBody::ToolCallUpdate(ToolCallUpdate {
        call_id: id.into(),
        origin: neco_proto::ToolOrigin::BuiltIn,
        tool: "bash".to_owned(),
        status: CallStatus::Executing,
        summary: String::new(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_a_crash_cut_off_get_results_that_say_what_is_known() {
    let stage = stage(Script::new().say("Let me check.").expecting(Expect { messages: Some(4), ..Expect::default() }));
    let dead = DeadSession::new()
        .with(EventBody::Message(Message::user("do it")))
        .with(assistant_calls(&[("ran", "bash", r#"{"command":"make"}"#), ("not", "bash", r#"{"command":"x"}"#)]))
        .with(executing("ran"));
    let id = dead.bury(&stage).await;
    let session = stage.reopen(id).await.unwrap();
    let messages = messages(&session).await;
    let Some(results) = messages.last().filter(|message| message.role == Role::Tool) else {
        panic!("no results: {messages:?}");
    };
    let outputs: Vec<(&str, Option<ErrorCode>)> = results
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some((result.output.as_str(), result.error_code)),
            _ => None,
        })
        .collect();
    assert_eq!(outputs.len(), 2);
    assert!(outputs[0].0.contains("not known"), "{outputs:?}");
    assert!(outputs[1].0.contains("did not run"), "{outputs:?}");
    say(&session, "go on").await;
    let events = until_complete(&session, session.first_seq()).await;
    let bodies: Vec<&EventBody> = events.iter().map(|event| &event.body).take(2).collect();
    let as_it_begins = matches!(bodies[..], [EventBody::SessionStart(_), EventBody::Notification(_)]);
    assert!(as_it_begins, "the start comes first, then what the person is told: {bodies:?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_was_shown_before_a_crash_is_in_the_conversation() {
    let stage = stage(Script::new().say("I go on."));
    let dead = DeadSession::new()
        .with(EventBody::Message(Message::user("tell me")))
        .with(EventBody::TurnStart(TurnStart { iteration: 1, model: "m".to_owned() }))
        .with(EventBody::StreamChunk(StreamChunk { text: "Once upon ".to_owned() }))
        .with(EventBody::StreamChunk(StreamChunk { text: "a time".to_owned() }));
    let id = dead.bury(&stage).await;
    let session = stage.reopen(id).await.unwrap();
    assert_eq!(messages(&session).await.last().map(Message::text), Some("Once upon a time".to_owned()));
    session.close().await;
    // Mended once, not again.
    let session = stage.reopen(id).await.unwrap();
    assert_eq!(messages(&session).await.len(), 2);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_tells_what_will_be_asked_next() {
    let script = Script::new()
        .call("bash", json!({"command": "touch made"}))
        .also_call("write_file", json!({"path": "b.txt", "content": "x\n"}))
        .also_call("bash", json!({"command": "ls"}))
        .also_call("edit_file", json!({"path": "b.txt", "old_string": "x", "new_string": "y"}))
        .also_call("bash", json!({"command": "git reset --hard HEAD~1"}));
    let stage = stage(script.say("Done."));
    let session = stage.open().await.unwrap();
    say(&session, "run it").await;
    let mut stream = session.events(0);
    let mut asked = Vec::new();
    loop {
        match stream.next().await.unwrap().unwrap().body {
            EventBody::PermissionRequest(request) => {
                let row = |ahead: &AskedAhead| (ahead.summary.clone(), ahead.risk, ahead.says);
                asked.push(request.ahead.iter().map(row).collect::<Vec<_>>());
                let no = Decision::Reject { reason: None };
                session.send(Command::Approve { call_id: request.call_id, decision: no }).await.unwrap();
            }
            EventBody::AgentComplete(_) => break,
            _ => {}
        }
    }
    let write = ("Write b.txt".to_owned(), Some(Risk::Medium), Says::Whole);
    // What it would change is not there yet: nobody can say before its turn.
    let edit = ("Edit b.txt".to_owned(), None, Says::Part);
    let reset = ("Run git reset --hard HEAD~1".to_owned(), Some(Risk::Critical), Says::Command);
    assert_eq!(asked[0], [write, edit.clone(), reset.clone()], "what is allowed anyway is not named");
    assert_eq!(asked[1], [edit, reset]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_answers_is_refused_in_the_end() {
    let script = Script::new().call("bash", json!({"command": "touch made"})).say("It was not run.");
    let stage = stage(script).with_config(|config| config.approval_timeout = Some(0.05));
    let session = stage.open().await.unwrap();
    say(&session, "run it").await;
    let events = until_complete(&session, 0).await;
    let refused = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) => Some((end.error_code, end.output.clone())),
        _ => None,
    });
    let (code, output) = refused.unwrap();
    assert_eq!(code, Some(ErrorCode::RejectedByUser));
    assert!(output.contains("nobody answered within 0.05 s, so this call was not run"), "{output}");
    let by = events.iter().find_map(|event| match &event.body {
        EventBody::PermissionDecision(decision) => decision.by.clone(),
        _ => None,
    });
    assert_eq!(by, Some(Actor::Rule { rule: "approval_timeout".to_owned() }));
    assert!(!stage.folder().join("made").exists());
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_tells_how_a_session_stands() {
    let stage = stage(Script::new().call("bash", json!({"command": "touch made"})).say("Done.").usage(10, 5));
    let session = stage.open().await.unwrap();
    say(&session, "run it").await;
    let mut stream = session.events(0);
    let request = loop {
        match stream.next().await.unwrap().unwrap().body {
            EventBody::PermissionRequest(request) => break request,
            _ => continue,
        }
    };
    while let Ok(Answer::Snapshot(snapshot)) = session.ask(Query::Snapshot).await {
        assert_eq!(snapshot.pending, std::slice::from_ref(&request));
        if snapshot.state == AgentState::AwaitingApproval {
            break;
        }
        tokio::task::yield_now().await;
    }
    session.send(Command::Approve { call_id: request.call_id, decision: Decision::Once }).await.unwrap();
    until_complete(&session, 0).await;
    let Ok(Answer::Snapshot(snapshot)) = session.ask(Query::Snapshot).await else { panic!("no snapshot") };
    assert_eq!((snapshot.state, snapshot.usage.input), (AgentState::Complete, 10));
    assert!(snapshot.pending.is_empty());
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sent_a_command_stands_in_the_log() {
    let stage = stage(Script::new().call("bash", json!({"command": "touch made"})).say("Done."));
    let session = stage.open().await.unwrap();
    let phone = Actor::Device { name: "phone".to_owned() };
    let run = Command::UserMessage { content: "run it".to_owned(), attachments: Vec::new() };
    session.send_as(phone.clone(), run).await.unwrap();
    let mut stream = session.events(0);
    let call_id = loop {
        if let EventBody::PermissionRequest(request) = stream.next().await.unwrap().unwrap().body {
            break request.call_id;
        }
    };
    session.send(Command::Approve { call_id, decision: Decision::Once }).await.unwrap();
    let count = until_complete(&session, 0).await.len();
    let id = session.id();
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    let log: Vec<Event> = session.events(0).take(count).map(Result::unwrap).collect().await;
    let said = log.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User => message.by.clone(),
        _ => None,
    });
    let decided = log.iter().find_map(|event| match &event.body {
        EventBody::PermissionDecision(decided) => decided.by.clone(),
        _ => None,
    });
    assert_eq!((said, decided), (Some(phone), Some(Actor::Person)));
    session.close().await;
}
