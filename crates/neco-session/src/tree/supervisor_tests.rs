//! What is begun is brought to its end, whoever gives up waiting for it; what can't be recorded has not happened.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_model::{Provider, SetupError};
use neco_proto::event::{
    AgentComplete, AgentMessage, AgentUpdate, CallStatus, CompleteReason, Down, Letter, NodeResult, NodeState,
    NodeType, SubtreeBudget, ToolCallEnd, Up,
};
use neco_proto::{Actor, AgentId, AgentOrder, AgentParameters, Event, EventBody, MessageId, Seq, SessionId, Usage};
use neco_safety::secrets::Redactor;
use neco_store::{Catalog, Durability, EventLog, Lease, MemoryStore, SessionRecord, StoreError};
use neco_toolkit::Spill;
use tokio::sync::{Semaphore, oneshot};

use super::agents::AgentTree;
use super::carry::{self, Told};
use super::error::TreeError;
use super::history::TreeHistory;
use super::op::{NewNode, Op};
use super::prefix_tests::{begun, event};
use super::slot::Answered;
use super::spec::{ChildSpec, TreeLimits, TreeSettings};
use super::stop::Stopping;
use super::supervisor::{AgentSupervisor, BuiltAgent, ChildSetup, MakeChild, SupervisorSetup};
use crate::fold::Standing;
use crate::journal::Journal;
use crate::roles::Definitions;

/// A log that writes when it is let, or not at all, and counts.
struct Slow {
    store: MemoryStore,
    /// One for each commit that may happen.
    lets: Semaphore,
    fails: AtomicBool,
    appends: AtomicUsize,
}

impl EventLog for Slow {
    fn lease(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        self.store.lease(session)
    }

    fn is_leased(&self, session: SessionId) -> BoxFuture<'_, bool> {
        self.store.is_leased(session)
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        events: Vec<Event>,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        if self.fails.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(StoreError::Write("the disk is full".to_owned()))));
        }
        self.appends.fetch_add(1, Ordering::SeqCst);
        self.store.append(lease, events, durability)
    }

    fn subscribe(self: Arc<Self>, session: SessionId, since: Seq) -> BoxStream<'static, Result<Event, StoreError>> {
        Arc::new(self.store.clone()).subscribe(session, since)
    }

    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        self.store.read(session, since, limit)
    }

    fn commit(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lets.acquire().await.map_err(|_| StoreError::Closed)?.forget();
            self.store.commit(session).await
        })
    }

    fn written(&self, session: SessionId, last: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.written(session, last)
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.flush()
    }
}

/// Nobody is made: those of these tests wait to be made again.
struct Nobody;

impl MakeChild for Nobody {
    fn make(&self, _: &Weak<AgentSupervisor>, _: ChildSetup<'_>) -> Result<BuiltAgent, TreeError> {
        Err(TreeError::NoRoot)
    }

    fn definitions(&self) -> Arc<Definitions> {
        Arc::new(Definitions::built_in())
    }

    fn room(&self) -> Option<(Arc<dyn Spill>, usize)> {
        None
    }

    fn model(&self, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
        Err(SetupError::BadName(name.to_owned()))
    }
}

struct World {
    supervisor: Arc<AgentSupervisor>,
    log: Arc<Slow>,
    session: SessionId,
    /// A → B → C, paused.
    line: Vec<AgentId>,
    _lease: Arc<Lease>,
}

const NOW: jiff::Timestamp = jiff::Timestamp::UNIX_EPOCH;

fn spec() -> ChildSpec {
    let definition = Definitions::built_in().find("general").unwrap().clone();
    ChildSpec { definition, call: None, told: true, workflow: None }
}

/// A tree of agents below each other, as a log tells of it.
fn history(root: AgentId, depth: usize, spec: &ChildSpec) -> (TreeHistory, Vec<AgentId>) {
    let mut history = begun(root);
    let mut tree = AgentTree::new(TreeLimits::default(), NewNode::root(root, "", SubtreeBudget::default()), NOW);
    let mut line = Vec::new();
    for _ in 0..depth {
        let (parent, id) = (line.last().copied().unwrap_or(root), AgentId::new());
        let node = NewNode { kind: NodeType::Child, ..NewNode::root(id, "balanced", SubtreeBudget::default()) };
        for op in [Op::Spawn { parent, node }, Op::Start(id)] {
            let before = tree.clone();
            let changes = tree.apply(NOW, op).unwrap();
            let setups = BTreeMap::from([(id, serde_json::to_value(spec).unwrap())]);
            for (agent, body) in carry::events(&before, &tree, &changes, &setups, NOW) {
                history.apply(&event(agent, body));
            }
        }
        line.push(id);
    }
    (history, line)
}

async fn world(depth: usize) -> World {
    let (session, root, store) = (SessionId::new(), AgentId::new(), MemoryStore::new());
    store.create(SessionRecord::new(session, "/", 0)).await.unwrap();
    let (lets, fails) = (Semaphore::new(0), AtomicBool::new(false));
    let log = Arc::new(Slow { store, lets, fails, appends: AtomicUsize::new(0) });
    let lease = Arc::new(log.lease(session).await.unwrap());
    let journal =
        Arc::new(Journal::new(&lease, Arc::clone(&log) as Arc<dyn EventLog>, Standing::default(), Redactor::default()));
    let (history, line) = history(root, depth, &spec());
    let settings = TreeSettings {
        limits: TreeLimits::default(),
        max_turns: 5,
        max_silence: None,
        max_pause: None,
        max_letters: 2,
    };
    let supervisor = AgentSupervisor::new(SupervisorSetup {
        session,
        root,
        model: String::new(),
        chosen: None,
        budget: SubtreeBudget::default(),
        journal,
        log: Arc::clone(&log) as Arc<dyn EventLog>,
        settings,
        make: Arc::new(Nobody),
        history,
    });
    log.lets.add_permits(10);
    supervisor.open().await.unwrap();
    log.lets.forget_permits(10);
    log.appends.store(0, Ordering::SeqCst);
    World { supervisor, log, session, line, _lease: lease }
}

impl World {
    async fn events(&self) -> Vec<Event> {
        self.log.read(self.session, 0, 1000).await.unwrap()
    }

    async fn states(&self) -> Vec<NodeState> {
        self.supervisor.nodes().await.iter().skip(1).map(|node| node.state).collect()
    }
}

#[tokio::test]
async fn an_operation_is_one_append_and_goes_on_without_whoever_asked_for_it() {
    let world = world(3).await;
    assert_eq!(world.states().await, [NodeState::Paused; 3]);
    let before = world.events().await.len();
    {
        let cancel = world.supervisor.order(Actor::Person, world.line[0], AgentOrder::Cancel);
        let mut cancel = Box::pin(cancel);
        // It waits for the disk when whoever asked gives up.
        while world.log.appends.load(Ordering::SeqCst) == 0 {
            assert!((&mut cancel).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
    }
    world.log.lets.add_permits(10);
    assert_eq!(world.states().await, [NodeState::Cancelled], "it was carried out");
    assert_eq!(world.log.appends.load(Ordering::SeqCst), 1, "all of it with one append");
    let events = world.events().await;
    assert_eq!(events.len() - before, 4, "the letter and three ends");
    // Whoever waits for it waits no longer.
    assert!(matches!(world.supervisor.ended(world.line[0]).await, NodeResult::Error { .. }));
}

#[tokio::test]
async fn what_can_not_be_recorded_has_not_happened() {
    let world = world(2).await;
    world.log.fails.store(true, Ordering::SeqCst);
    world.log.lets.add_permits(10);
    let refused = world.supervisor.order(Actor::Person, world.line[0], AgentOrder::Cancel).await;
    assert!(refused.unwrap_err().to_string().contains("the disk is full"));
    assert_eq!(world.states().await, [NodeState::Paused; 2]);
}

async fn stop_everybody(world: &World) -> Stopping {
    world.supervisor.stop_everybody(Actor::Person, std::future::ready(())).await.0.unwrap()
}

#[tokio::test]
async fn a_busy_tree_does_not_keep_the_root_from_stopping_and_its_calls_keep_whom_they_wait_for() {
    let world = world(1).await;
    world.log.lets.add_permits(10);
    let agent = world.line[0];
    wait_for(&world, agent).await;
    world.supervisor.lock().await.tree.apply(NOW, Op::Resume(agent)).unwrap();
    let busy = world.supervisor.lock().await;
    let (heard, stopped) = oneshot::channel();
    let calls = Arc::clone(&world.supervisor);
    let root = async move {
        heard.send(()).unwrap();
        // The call that waits for the agent is stopped with the root.
        calls.give_up(agent).await
    };
    let supervisor = Arc::clone(&world.supervisor);
    let stopping = tokio::spawn(async move { supervisor.stop_everybody(Actor::Person, root).await });
    stopped.await.unwrap();
    assert!(!stopping.is_finished(), "the tree is busy still");
    drop(busy);
    let (paused, kept) = stopping.await.unwrap();
    assert!(kept, "the call ended it");
    world.supervisor.stopped(paused.unwrap(), std::future::ready(())).await;
    assert_eq!(world.states().await, [NodeState::Paused]);
}

#[tokio::test]
async fn a_stop_that_is_given_up_keeps_nobody_from_beginning() {
    let world = world(1).await;
    world.log.lets.add_permits(10);
    let stopping = stop_everybody(&world).await;
    assert!(world.supervisor.lock().await.stopping.any());
    let stopped = world.supervisor.stopped(stopping, std::future::pending());
    assert!(tokio::time::timeout(Duration::from_millis(10), stopped).await.is_err());
    assert!(!world.supervisor.lock().await.stopping.any());
    let stopping = stop_everybody(&world).await;
    world.supervisor.stopped(stopping, std::future::ready(())).await;
    assert!(!world.supervisor.lock().await.stopping.any());
}

fn begins_anew(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(&event.body, EventBody::AgentUpdate(update) if update.anew))
}

#[tokio::test]
async fn who_is_ended_or_stopped_while_it_is_started_over_does_not_begin_anew() {
    for left in [NodeState::Cancelled, NodeState::Paused] {
        let world = world(2).await;
        world.log.lets.add_permits(100);
        let (agent, person) = (world.line[0], Actor::Person);
        let leaving = world.supervisor.stop_to_start_over(&person, agent).await.unwrap();
        assert!(leaving.is_empty(), "nobody runs");
        assert_eq!(world.states().await, [NodeState::Paused, NodeState::Cancelled], "the one below it is stopped");
        if left == NodeState::Cancelled {
            world.supervisor.order(Actor::Person, agent, AgentOrder::Cancel).await.unwrap();
        } else {
            let stopping = stop_everybody(&world).await;
            world.supervisor.stopped(stopping, std::future::ready(())).await;
        }
        world.supervisor.begin_over(&person, agent, true).await.unwrap_err();
        assert_eq!(world.states().await.first(), Some(&left));
        assert!(!begins_anew(&world.events().await));
        let state = world.supervisor.lock().await;
        let slot = state.slots.get(&agent);
        assert_eq!(slot.map(|slot| slot.starting_over), (left == NodeState::Paused).then_some(false));
    }
}

#[tokio::test]
async fn a_session_that_closes_starts_nobody_over() {
    let world = world(1).await;
    world.log.lets.add_permits(100);
    let (agent, person) = (world.line[0], Actor::Person);
    world.supervisor.stop_to_start_over(&person, agent).await.unwrap();
    world.supervisor.close().await;
    world.supervisor.begin_over(&person, agent, true).await.unwrap_err();
    assert_eq!(world.states().await, [NodeState::Paused]);
    assert!(!begins_anew(&world.events().await));
}

#[tokio::test]
async fn who_starts_over_waits_for_nobody_else() {
    let world = world(1).await;
    world.log.lets.add_permits(100);
    let slow = tokio::spawn(std::future::pending());
    world.supervisor.lock().await.leaving.push(slow);
    let leaving = world.supervisor.stop_to_start_over(&Actor::Person, world.line[0]).await.unwrap();
    assert!(leaving.is_empty());
    assert_eq!(world.supervisor.lock().await.leaving.len(), 1, "whoever closes waits for it");
}

/// A call of the root waits for this one from now on.
async fn wait_for(world: &World, agent: AgentId) {
    let mut state = world.supervisor.lock().await;
    state.slots.get_mut(&agent).unwrap().spec.as_mut().unwrap().told = false;
}

#[tokio::test]
async fn who_ended_with_a_turn_is_whom_its_calls_gave_up() {
    let world = world(2).await;
    world.log.lets.add_permits(10);
    wait_for(&world, world.line[0]).await;
    let since = Instant::now();
    assert_eq!(world.supervisor.ended_with_turn(since).await.len(), 0, "whoever is paused stays");
    world.supervisor.stop_as(world.line[0], Told::Nobody, None).await.unwrap();
    let later = Instant::now();
    assert_eq!(world.supervisor.ended_with_turn(since).await.len(), 2, "with whoever is below");
    assert_eq!(world.supervisor.ended_with_turn(since).await.len(), 0, "each is told once");

    let waited_for = [true, true, false];
    let by_person = [false, true, false];
    for (waits, by_person) in waited_for.into_iter().zip(by_person) {
        let world = self::world(1).await;
        world.log.lets.add_permits(10);
        let agent = world.line[0];
        if waits {
            wait_for(&world, agent).await;
        }
        match by_person {
            true => world.supervisor.stop_as(agent, Told::Parent, None).await.unwrap(),
            false => world.supervisor.stop_as(agent, Told::Nobody, None).await.unwrap(),
        };
        let ended = world.supervisor.ended_with_turn(later).await;
        assert_eq!(ended.len(), usize::from(waits && !by_person), "{waits} {by_person}");
    }
}

#[tokio::test]
async fn who_ends_with_a_turn_is_told_when_they_have_ended() {
    let world = world(1).await;
    world.log.lets.add_permits(10);
    let (agent, since) = (world.line[0], Instant::now());
    wait_for(&world, agent).await;
    world.supervisor.lock().await.tree.apply(NOW, Op::Resume(agent)).unwrap();
    let supervisor = Arc::clone(&world.supervisor);
    let telling = tokio::spawn(async move { supervisor.ended_with_turn(since).await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!telling.is_finished(), "one works still");
    world.supervisor.stop_as(agent, Told::Nobody, None).await.unwrap();
    assert_eq!(telling.await.unwrap().len(), 1);
}

#[tokio::test]
async fn fewer_tools_hold_for_those_below_and_are_kept() {
    let world = world(2).await;
    world.log.lets.add_permits(10);
    let update = |tools: &[&str]| {
        let tools = Some(tools.iter().map(|name| (*name).to_owned()).collect());
        AgentOrder::UpdateParameters(AgentParameters { tools, ..AgentParameters::default() })
    };
    world.supervisor.order(Actor::Person, world.line[0], update(&["Read", "spawn_agent"])).await.unwrap();
    let mut setups = BTreeMap::new();
    for event in world.events().await {
        if let EventBody::AgentUpdate(AgentUpdate { node, setup: Some(setup), .. }) = event.body {
            setups.insert(node.id, serde_json::from_value::<ChildSpec>(setup).unwrap());
        }
    }
    for agent in &world.line {
        let tools = &setups[agent].definition.tools;
        assert!(tools.has("read_file") && tools.has("spawn_agent") && tools.has("report"), "{tools:?}");
        assert!(!tools.has("bash"), "{tools:?}");
    }
}

#[tokio::test]
async fn one_question_at_a_time_and_an_answer_goes_to_whoever_still_waits() {
    let world = world(2).await;
    world.log.lets.add_permits(10);
    let (asks, text) = (world.line[1], || "which?".to_owned());
    let first = world.supervisor.question(asks, text()).await.unwrap().unwrap();
    let second = world.supervisor.question(asks, text()).await.unwrap_err();
    assert!(second.to_string().contains("ask everything in one question"), "{second}");
    let answer = || AgentOrder::Answer { text: "this one".to_owned() };
    world.supervisor.order(Actor::Person, asks, answer()).await.unwrap();
    assert_eq!(first.await.unwrap(), Answered::By(Actor::Person, "this one".to_owned()));
    // One whose call is over waits no more.
    drop(world.supervisor.question(asks, text()).await.unwrap());
    assert!(world.supervisor.order(Actor::Person, asks, answer()).await.is_err());
    assert!(world.supervisor.question(asks, text()).await.is_err(), "its parent's mailbox has room for two");
}

#[tokio::test]
async fn an_end_that_comes_while_it_is_paused_is_not_lost() {
    let world = world(1).await;
    world.log.lets.add_permits(10);
    let agent = world.line[0];
    let complete = serde_json::json!({
        "reason": CompleteReason::Natural, "final": "all done", "turns": 1, "usage": Usage::default(), "duration_ms": 1,
    });
    let complete: AgentComplete = serde_json::from_value(complete).unwrap();
    let mut state = world.supervisor.lock().await;
    world.supervisor.work_ended(&mut state, agent, &complete).await;
    let kept = state.slots.get(&agent).unwrap().ended_paused.clone();
    assert_eq!(kept, Some(complete));
}

#[test]
fn an_answer_is_heard_with_the_call_that_asked_and_reports_are_not_kept() {
    let (root, child) = (AgentId::new(), AgentId::new());
    let mut history = TreeHistory::default();
    let letter = |to, letter| {
        EventBody::AgentMessage(AgentMessage { from: Actor::Person, to, letter, message_id: MessageId::new() })
    };
    let answer = || letter(child, Letter::Down(Down::Answer { text: "this one".to_owned() }));
    let end = |status| {
        EventBody::ToolCallEnd(ToolCallEnd {
            call_id: "c".into(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: "report".to_owned(),
            summary: String::new(),
            status,
            output: String::new(),
            error_code: None,
            advice: None,
            agent: None,
            duration_ms: 0,
            display: None,
            spilled_to: None,
            known: Vec::new(),
        })
    };
    history.apply(&event(child, answer()));
    history.apply(&event(child, end(CallStatus::Error)));
    assert_eq!(history.unheard().count(), 1, "a call that was cut off did not hear it");
    history.apply(&event(child, end(CallStatus::Success)));
    assert_eq!(history.unheard().count(), 0);
    let redirect = letter(child, Letter::Down(Down::Redirect { text: "left".to_owned() }));
    history.apply(&event(child, redirect));
    history.apply(&event(root, letter(root, Letter::Up(Up::Report { progress: 0.5, message: String::new() }))));
    assert_eq!(history.unheard().count(), 1);
}
