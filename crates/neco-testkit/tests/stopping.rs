//! A stop holds: nothing asks a model after it until the person acts, and nobody is lost by it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests stop at the first thing that is wrong")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use neco_model::scripted::{AgentPart, Expect, Script, Turn};
use neco_model::{DeltaStream, Provider, Request};
use neco_proto::event::{AgentNode, CallStatus, CompleteReason, NodeState, SessionStop, WorkflowState};
use neco_proto::{AgentOrder, Answer, ApprovalMode, Client, Command, Event, EventBody, Query, Seq, SessionSnapshot};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_view::reduce::IdleTracker;
use serde_json::json;

/// Long enough for whoever still works to ask many times.
const A_WHILE: Duration = Duration::from_millis(400);

/// Plays a script and counts how often it is asked.
struct Counted {
    plays: Arc<dyn Provider>,
    asked: AtomicUsize,
}

impl Counted {
    fn times(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    async fn reaches(&self, times: usize) {
        let begun = Instant::now();
        while self.times() < times {
            assert!(begun.elapsed() < Duration::from_secs(30), "asked {} times", self.times());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Nothing is asked any more.
    async fn rests(&self) {
        let before = self.times();
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(self.times(), before, "a model was asked after the stop");
    }
}

impl Provider for Counted {
    fn label(&self) -> &str {
        self.plays.label()
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, request: Request) -> DeltaStream {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.plays.stream(request)
    }
}

struct World {
    session: Session,
    model: Arc<Counted>,
    _stage: Stage,
}

async fn world(script: Script, setup: Setup) -> World {
    let model = Arc::new(Counted { plays: script.clone().into_provider(), asked: AtomicUsize::new(0) });
    let stage = Stage::new(StageSetup { files: Vec::new(), script, setup }).unwrap();
    let stage = stage.with_config(|config| config.agents.max_turns = 100_000);
    let stage = stage.played_by(Arc::clone(&model) as Arc<dyn Provider>);
    let session = stage.open().await.unwrap();
    World { session, model, _stage: stage }
}

impl World {
    async fn send(&self, command: Command) {
        self.session.send(command).await.unwrap();
    }

    async fn say(&self, text: &str) {
        self.send(Command::UserMessage { content: text.to_owned(), attachments: Vec::new() }).await;
    }

    async fn order(&self, agent: &AgentNode, order: AgentOrder) {
        self.send(Command::AgentCommand { agent_id: agent.id, order }).await;
    }

    async fn agents(&self) -> Vec<AgentNode> {
        match self.session.ask(Query::Tree).await.unwrap() {
            Answer::Tree { nodes } => nodes.into_iter().skip(1).collect(),
            other => panic!("not what was asked: {other:?}"),
        }
    }

    async fn states(&self) -> Vec<(String, NodeState)> {
        self.agents().await.into_iter().map(|node| (node.name, node.state)).collect()
    }

    async fn snapshot(&self) -> SessionSnapshot {
        match self.session.ask(Query::Snapshot).await.unwrap() {
            Answer::Snapshot(snapshot) => snapshot,
            other => panic!("not what was asked: {other:?}"),
        }
    }

    /// The events after `since` until `wanted`, that one included.
    async fn until(&self, since: Seq, mut wanted: impl FnMut(&Event) -> bool) -> Vec<Event> {
        let mut stream = self.session.events(since);
        let mut seen = Vec::new();
        let waits = async {
            while let Some(event) = stream.next().await {
                let event = event.unwrap();
                let found = wanted(&event);
                seen.push(event);
                if found {
                    return;
                }
            }
            panic!("it never happened");
        };
        tokio::time::timeout(Duration::from_secs(30), waits).await.expect("it never happened");
        seen
    }

    async fn all(&self) -> Vec<Event> {
        let last = self.snapshot().await.last_seq;
        self.until(0, |event| event.seq >= last).await
    }

    async fn stop(&self) -> SessionStop {
        self.send(Command::StopAll).await;
        let stop = |event: &Event| match &event.body {
            EventBody::Stop(stop) => Some(stop.clone()),
            _ => None,
        };
        self.all().await.iter().rev().find_map(stop).expect("windows are told")
    }
}

fn setup() -> Setup {
    Setup { approval: ApprovalMode::Auto, guards: false, ..Setup::default() }
}

/// An agent that never stops asking.
fn endless() -> Script {
    Script::new().call("bash", json!({ "command": "echo {n}" })).repeat(100_000)
}

fn part(role: &str, task: &str, script: Script) -> AgentPart {
    AgentPart { role: Some(role.to_owned()), task: Some(task.to_owned()), turns: script.turns }
}

fn spawn(agent: &str, task: &str) -> serde_json::Value {
    json!({ "agent": agent, "task": task })
}

fn completed(event: &Event, reason: CompleteReason) -> bool {
    matches!(&event.body, EventBody::AgentComplete(complete) if complete.reason == reason)
}

/// Three children, one of which has one of its own that it waits for in a call.
fn three() -> Script {
    let mut script = Script::new()
        .call("spawn_agent", spawn("coder", "the first"))
        .also_call("spawn_agent", spawn("coder", "the second"))
        .also_call("spawn_agent", spawn("general", "the third"));
    script.agents.push(part("coder", "the", endless()));
    let asks = json!({ "description": "below", "prompt": "the one below", "agent": "coder" });
    script.agents.push(part("general", "third", Script::new().call("task", asks).say("third done")));
    script
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_stop_ends_the_turn_and_the_next_pauses_everybody_and_nothing_is_asked_after_it() {
    let script = three().call("agent_wait", json!({})).say("Heard.").expecting(Expect::user("and now?")).say("woken");
    let world = world(script, setup()).await;
    world.say("go").await;
    world.model.reaches(20).await;
    world.send(Command::Cancel).await;
    let went_on = world.model.times();
    world.model.reaches(went_on + 10).await;
    let states = world.states().await;
    assert!(states.len() == 4 && states.iter().all(|(_, state)| *state == NodeState::Running), "{states:?}");
    let stop = world.stop().await;
    world.model.rests().await;
    assert_eq!(stop.paused.len(), 4, "those below the children too");
    let states = world.states().await;
    assert!(states.iter().all(|(_, state)| *state == NodeState::Paused), "{states:?}");
    let events = world.all().await;
    let waited = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) if end.tool == "agent_wait" => Some(end.clone()),
        _ => None,
    });
    let waited = waited.unwrap();
    assert_eq!((waited.status, waited.error_code), (CallStatus::Cancelled, None), "{waited:?}");
    assert!(["Not done yet: ", "coder-1"].iter().all(|words| waited.output.contains(words)), "{}", waited.output);
    let mut rest = IdleTracker::default();
    events.iter().for_each(|event| rest.apply(event));
    assert!(rest.is_over());
    // What was paused can be let go on, told and ended.
    let agents = world.agents().await;
    let named = |name: &str| agents.iter().find(|node| node.name == name).unwrap().clone();
    let before = world.model.times();
    world.order(&named("coder-1"), AgentOrder::Redirect { text: "mind the step".to_owned() }).await;
    world.order(&named("coder-2"), AgentOrder::Cancel).await;
    world.model.rests().await;
    world.order(&named("coder-1"), AgentOrder::Resume).await;
    world.model.reaches(before + 5).await;
    let heard = world.all().await.iter().any(|event| {
        event.agent_id == named("coder-1").id
            && matches!(&event.body, EventBody::Message(message) if message.text().contains("mind the step"))
    });
    assert!(heard, "what was said meanwhile is heard when it goes on");
    world.stop().await;
    let since = world.snapshot().await.last_seq;
    world.say("and now?").await;
    let root = world.snapshot().await.root_agent;
    let told = world.until(since, |event| event.agent_id == root && completed(event, CompleteReason::Natural)).await;
    let told: Vec<String> = told
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Message(message) if event.agent_id == root => Some(message.text()),
            _ => None,
        })
        .collect();
    assert!(told.iter().any(|text| text.contains("The user stopped everything. Paused")), "{told:?}");
    world.model.rests().await;
    world.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_agents_give_after_a_stop_wakes_nobody() {
    let mut script = Script::new()
        .call("spawn_agent", spawn("coder", "slowly"))
        .say("It is at it.")
        .say("I was woken.")
        .expecting(Expect::user("tell me"));
    let child = Script::new().call("bash", json!({ "command": "sleep 60" })).say("my result");
    script.agents.push(part("coder", "slowly", child));
    let world = world(script, setup()).await;
    world.say("go").await;
    let root = world.snapshot().await.root_agent;
    world.until(0, |event| event.agent_id == root && completed(event, CompleteReason::Natural)).await;
    world.until(0, |event| matches!(&event.body, EventBody::ToolCallUpdate(update) if update.tool == "bash" && update.status == CallStatus::Executing)).await;
    let begun = Instant::now();
    assert_eq!(world.stop().await.paused.len(), 1);
    assert!(begun.elapsed() < Duration::from_secs(5), "the command is broken off, not waited for");
    let mut rest = IdleTracker::default();
    world.all().await.iter().for_each(|event| rest.apply(event));
    assert!(rest.is_over(), "nothing is waited for any more");
    // It goes on and ends: its result waits for the person.
    let since = world.snapshot().await.last_seq;
    let agent = world.agents().await.remove(0);
    world.order(&agent, AgentOrder::Resume).await;
    world
        .until(
            since,
            |event| matches!(&event.body, EventBody::AgentUpdate(update) if update.node.state == NodeState::Completed),
        )
        .await;
    world.model.rests().await;
    world.all().await.iter().for_each(|event| rest.apply(event));
    assert!(rest.is_over());
    world.say("tell me").await;
    world.until(since, |event| event.agent_id == root && completed(event, CompleteReason::Natural)).await;
    let heard = world.all().await.iter().any(
        |event| matches!(&event.body, EventBody::Message(message) if message.text().contains("coder-1 completed its task")),
    );
    assert!(heard);
    world.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_broken_off_and_asked_for_again_when_its_agent_goes_on() {
    let mut script = Script::new().call("spawn_agent", spawn("coder", "talk")).say("It talks.").loop_last();
    let talks = Turn { say: "word ".repeat(5000), between_ms: 20, ..Turn::default() };
    let child = Script::new().turn(talks).say("in short").expecting(Expect::user("broken off"));
    script.agents.push(part("coder", "talk", child));
    for order in [None, Some(AgentOrder::Pause)] {
        let world = world(script.clone(), setup()).await;
        world.say("go").await;
        let root = world.snapshot().await.root_agent;
        world.until(0, |event| event.agent_id != root && matches!(&event.body, EventBody::StreamChunk(_))).await;
        let agent = world.agents().await.remove(0);
        match order {
            Some(order) => world.order(&agent, order).await,
            None => drop(world.stop().await),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let spoken = world.snapshot().await.last_seq;
        world.model.rests().await;
        assert_eq!(world.snapshot().await.last_seq, spoken, "not a word more");
        world.order(&agent, AgentOrder::Resume).await;
        world.until(spoken, |event| event.agent_id == agent.id && completed(event, CompleteReason::Natural)).await;
        let agent = world.agents().await.remove(0);
        assert_eq!(agent.last_message.as_deref(), Some("in short"));
        world.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_the_person_is_paused_too_and_asks_again_when_it_goes_on() {
    let mut script = Script::new().call("spawn_agent", spawn("coder", "write")).say("It writes.").loop_last();
    let write = || json!({ "path": "a.txt", "content": "x" });
    let child = Script::new().call("write_file", write()).call("write_file", write()).say("written");
    script.agents.push(part("coder", "write", child));
    let world = world(script, Setup { approval: ApprovalMode::AskFirst, ..setup() }).await;
    world.say("go").await;
    world.until(0, |event| matches!(&event.body, EventBody::PermissionRequest(_))).await;
    world.stop().await;
    let snapshot = world.snapshot().await;
    assert!(snapshot.pending.is_empty(), "{:?}", snapshot.pending);
    world.model.rests().await;
    let agent = world.agents().await.remove(0);
    assert_eq!(agent.state, NodeState::Paused);
    world.order(&agent, AgentOrder::Resume).await;
    world.until(snapshot.last_seq, |event| matches!(&event.body, EventBody::PermissionRequest(_))).await;
    world.session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_a_call_of_the_turn_waits_for_is_kept_by_a_stop_of_everything() {
    let asks = json!({ "description": "all of it", "prompt": "do all of it", "agent": "coder" });
    let mut script = Script::new().call("task", asks).say("woken").loop_last();
    script.agents.push(part("coder", "all of it", endless()));
    for (command, state) in [(Command::StopAll, NodeState::Paused), (Command::Cancel, NodeState::Cancelled)] {
        let world = world(script.clone(), setup()).await;
        world.say("go").await;
        world.model.reaches(5).await;
        world.send(command).await;
        let over = |event: &Event| completed(event, CompleteReason::Cancelled);
        world.until(0, over).await;
        world.model.rests().await;
        let agents = world.agents().await;
        assert_eq!(agents.iter().map(|node| node.state).collect::<Vec<_>>(), [state]);
        let end = world.all().await.into_iter().find_map(|event| match event.body {
            EventBody::ToolCallEnd(end) if end.tool == "task" => Some(end),
            _ => None,
        });
        assert_eq!(end.unwrap().status, CallStatus::Cancelled);
        let told = world.all().await.into_iter().find_map(|event| match event.body {
            EventBody::Notification(told) if told.text.contains("of this turn") => Some(told.text),
            _ => None,
        });
        let ended = "1 agent of this turn was stopped with it: coder-1";
        assert_eq!(told.as_deref(), (state == NodeState::Cancelled).then_some(ended));
        if state == NodeState::Paused {
            let before = world.model.times();
            world.order(&agents[0], AgentOrder::Resume).await;
            world.model.reaches(before + 3).await;
        }
        world.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agents_of_a_workflow_are_stopped_with_it_and_it_can_go_on() {
    let mut script = Script::new().say("nobody asks the root");
    script.agents.push(part("coder", "part", endless()));
    let world = world(script, setup()).await;
    let task = |id: &str| json!({ "id": id, "agent": "coder", "prompt": format!("part {id}") });
    let definition = json!({ "name": "both", "tasks": [task("a"), task("b")] });
    world.send(Command::RunWorkflow { definition, inputs: json!(null) }).await;
    world.model.reaches(10).await;
    world.send(Command::StopAll).await;
    world.model.rests().await;
    let Answer::Workflows { workflows } = world.session.ask(Query::Workflows).await.unwrap() else { panic!("others") };
    assert_eq!(workflows[0].state, WorkflowState::Interrupted);
    assert!(world.states().await.iter().all(|(_, state)| *state == NodeState::Cancelled));
    let before = world.model.times();
    let order = neco_proto::WorkflowOrder::Resume;
    world.send(Command::WorkflowCommand { workflow_id: workflows[0].workflow_id, order }).await;
    world.model.reaches(before + 5).await;
    world.send(Command::StopAll).await;
    world.session.close().await;
}

/// A title and a look at what is worth keeping, each of which would be asked for.
fn watched() -> Setup {
    Setup { titles: true, extract: true, ..setup() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_asked_at_the_end_of_a_session_that_was_stopped_or_left_at_work() {
    for stops in [Some(Command::Cancel), Some(Command::StopAll), None] {
        let stopped = stops.is_some();
        let world = world(endless(), watched()).await;
        world.say("I always want tabs. Go on and on").await;
        world.model.reaches(8).await;
        if let Some(stop) = stops {
            world.send(stop).await;
            world.model.rests().await;
        }
        let before = world.model.times();
        world.session.clone().close().await;
        let more = world.model.times() - before;
        assert!(more <= usize::from(!stopped) * 3, "{more} questions after the stop");
        let asked = world.model.times();
        tokio::time::sleep(A_WHILE).await;
        assert_eq!(world.model.times(), asked);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_title_that_is_being_made_is_dropped_by_a_stop() {
    let slow = Turn { say: "A title".to_owned(), delay_ms: 60_000, ..Turn::default() };
    let world = world(Script::new().say("done").turn(slow), watched()).await;
    world.say("hello").await;
    world.model.reaches(2).await;
    let begun = Instant::now();
    world.send(Command::StopAll).await;
    world.session.clone().close().await;
    assert!(begun.elapsed() < Duration::from_secs(10), "the title was waited for");
    assert_eq!(world.model.times(), 2, "and nothing else was asked");
}
