//! A workflow at work, with hands that do what they are told and a log that can be looked at.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_agent::SinkError;
use neco_proto::event::{TaskState, WorkflowState, WorkflowUpdate};
use neco_proto::{Actor, AgentId, ErrorCode, WorkflowId};
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::board::Recorded;
use super::hands::TaskClock;
use super::run as run_it;
use super::*;

/// What hands do with tasks, and what they saw.
#[derive(Default)]
struct World {
    /// How often a task fails before it succeeds.
    fails: HashMap<String, u32>,
    /// Tasks that never end by themselves.
    hangs: BTreeSet<String>,
    begun: Mutex<Vec<String>>,
    stopped: Mutex<Vec<String>>,
    /// Tasks that were running when the log was last asked, by how it stood then.
    updates: Mutex<Vec<WorkflowUpdate>>,
    waits: Mutex<Vec<Duration>>,
    /// Updates that are kept before the disk is full.
    room: Option<usize>,
    /// Rings when a hanging task has begun.
    hanging: tokio::sync::Notify,
    abandoned: Mutex<Vec<WorkflowId>>,
}

struct Hand(Arc<World>);

impl Hands for Hand {
    fn begin(&self, call: TaskCall) -> BoxFuture<'static, Result<Begun, TaskError>> {
        let world = Arc::clone(&self.0);
        Box::pin(async move {
            // Whatever begins is on the disk as running.
            let running = {
                let mut board = Board::default();
                world.updates.lock().unwrap().iter().cloned().for_each(|update| board.apply(update));
                let graph = board.find(call.workflow).unwrap().graph.clone();
                graph.tasks.iter().find(|task| task.id == call.task).unwrap().state == TaskState::Running
            };
            assert!(running, "{} began before it was kept", call.task);
            let times = {
                let mut begun = world.begun.lock().unwrap();
                begun.push(call.task.clone());
                begun.iter().filter(|task| **task == call.task).count()
            };
            let fails = world.fails.get(&call.task).copied().unwrap_or_default() as usize >= times;
            let hangs = world.hangs.contains(&call.task);
            let (world, task) = (Arc::clone(&world), call.task.clone());
            Ok(Begun {
                agent: hangs.then(AgentId::new),
                end: Box::pin(async move {
                    if hangs {
                        world.hanging.notify_one();
                        call.cancel.cancelled().await;
                        world.stopped.lock().unwrap().push(task);
                        return Err(TaskError::Stopped);
                    }
                    if fails {
                        Err(TaskError::Failed(format!("{task} broke")))
                    } else {
                        Ok(json!(format!("{task} is done")))
                    }
                }),
            })
        })
    }

    fn abandon(&self, workflow: WorkflowId) -> BoxFuture<'static, ()> {
        self.0.abandoned.lock().unwrap().push(workflow);
        Box::pin(std::future::ready(()))
    }
}

impl Record for World {
    fn commit(&self, update: WorkflowUpdate) -> BoxFuture<'_, Result<(), SinkError>> {
        let mut updates = self.updates.lock().unwrap();
        let full = self.room.is_some_and(|room| updates.len() >= room);
        if !full {
            updates.push(update);
        }
        let result = match full {
            true => Err(SinkError { code: ErrorCode::StoreFailed, message: "the disk is full".to_owned() }),
            false => Ok(()),
        };
        Box::pin(std::future::ready(result))
    }
}

/// Time that is over as soon as it is waited for, unless it is a task's.
struct Instantly(Arc<World>);

impl TaskClock for Instantly {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn wait(&self, how_long: Duration) -> BoxFuture<'static, ()> {
        self.0.waits.lock().unwrap().push(how_long);
        Box::pin(tokio::task::yield_now())
    }
}

struct Run {
    world: Arc<World>,
    cancel: CancellationToken,
    interrupt: CancellationToken,
    id: WorkflowId,
}

impl Run {
    fn new(world: World) -> Self {
        Self {
            world: Arc::new(world),
            cancel: CancellationToken::new(),
            interrupt: CancellationToken::new(),
            id: WorkflowId::new(),
        }
    }

    fn setup(&self, file: &WorkflowFile, recorded: Option<Recorded>) -> RunnerSetup {
        RunnerSetup {
            id: self.id,
            graph: Graph::new(file, &BTreeMap::new()).unwrap(),
            file: file.clone(),
            recorded,
            record: self.world.clone(),
            hands: Arc::new(Hand(self.world.clone())),
            clock: Arc::new(Instantly(self.world.clone())),
            cancel: self.cancel.clone(),
            interrupt: self.interrupt.clone(),
        }
    }

    async fn go(&self, text: &str) -> WorkflowState {
        run_it(self.setup(&file(text), None)).await.unwrap()
    }

    fn board(&self) -> Board {
        let mut board = Board::default();
        self.world.updates.lock().unwrap().iter().cloned().for_each(|update| board.apply(update));
        board
    }

    fn states(&self) -> Vec<(String, TaskState)> {
        let board = self.board();
        board.find(self.id).unwrap().graph.tasks.iter().map(|task| (task.id.clone(), task.state)).collect()
    }

    fn begun(&self) -> Vec<String> {
        self.world.begun.lock().unwrap().clone()
    }
}

fn file(text: &str) -> WorkflowFile {
    WorkflowFile::read(text, Form::Yaml).unwrap()
}

fn states(pairs: &[(&str, TaskState)]) -> Vec<(String, TaskState)> {
    pairs.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect()
}

const CHAIN: &str = "
name: chain
on_failure: continue
tasks:
  - { id: a, command: 'true' }
  - { id: b, needs: [a], command: 'echo {{ tasks.a.output }}' }
  - { id: c, needs: [b], agent: coder, prompt: 'after {{ tasks.b.output }}' }
  - { id: d, command: 'true' }
";

#[tokio::test]
async fn every_change_is_kept_before_anything_is_done_about_it() {
    let run = Run::new(World::default());
    assert_eq!(run.go(CHAIN).await, WorkflowState::Completed);
    assert_eq!(run.begun().len(), 4);
    let updates = run.world.updates.lock().unwrap().clone();
    let first = updates.first().unwrap();
    assert!(first.definition.is_some() && first.tasks.len() == 4);
    assert!(updates.iter().skip(1).all(|update| update.definition.is_none()));
    assert_eq!(updates.last().unwrap().state, WorkflowState::Completed);
    let board = run.board();
    let c = board.find(run.id).unwrap().graph.tasks.iter().find(|task| task.id == "c").unwrap().clone();
    assert_eq!((c.output, c.attempts, c.needs), (Some(json!("c is done")), 1, vec!["b".to_owned()]));
}

#[tokio::test]
async fn a_failure_stops_what_depends_on_it_and_says_why() {
    let run = Run::new(World { fails: [("b".to_owned(), 9)].into(), ..World::default() });
    assert_eq!(run.go(CHAIN).await, WorkflowState::Partly);
    use TaskState::{Completed, Failed, Skipped};
    assert_eq!(run.states(), states(&[("a", Completed), ("b", Failed), ("c", Skipped), ("d", Completed)]));
    let board = run.board();
    assert_eq!(board.find(run.id).unwrap().graph.tasks[1].error.as_deref(), Some("b broke"));
}

#[tokio::test]
async fn fail_fast_stops_what_runs_and_waits_for_it() {
    let text = "{ name: x, tasks: [{ id: slow, command: x }, { id: bad, command: x }] }";
    let world = World { fails: [("bad".to_owned(), 9)].into(), hangs: ["slow".to_owned()].into(), ..World::default() };
    let run = Run::new(world);
    assert_eq!(run.go(text).await, WorkflowState::Failed);
    assert_eq!(run.states(), states(&[("slow", TaskState::Cancelled), ("bad", TaskState::Failed)]));
    assert_eq!(*run.world.stopped.lock().unwrap(), ["slow"]);
}

#[tokio::test]
async fn a_task_is_tried_again_after_longer_and_longer_waits() {
    let text =
        "{ name: x, on_failure: { retry_then_continue: { times: 3, backoff: 2 } }, tasks: [{ id: a, command: x }] }";
    let run = Run::new(World { fails: [("a".to_owned(), 2)].into(), ..World::default() });
    assert_eq!(run.go(text).await, WorkflowState::Completed);
    assert_eq!(*run.world.waits.lock().unwrap(), [2, 4].map(Duration::from_secs));
    let board = run.board();
    let task = &board.find(run.id).unwrap().graph.tasks[0];
    assert_eq!((task.attempts, task.error.clone()), (3, None));
}

#[tokio::test]
async fn a_failure_that_is_accepted_is_an_outcome() {
    let text = "{ name: x, tasks: [{ id: a, command: x, accept_failure: true }, { id: b, needs: [a], when: 'tasks.a.failed', command: 'echo {{ tasks.a.output }}' }, { id: c, needs: [a], when: 'not tasks.a.failed', command: x }] }";
    let run = Run::new(World { fails: [("a".to_owned(), 9)].into(), ..World::default() });
    assert_eq!(run.go(text).await, WorkflowState::Completed);
    assert_eq!(run.begun(), ["a", "b"], "c is not wanted");
}

#[tokio::test]
async fn a_task_that_takes_too_long_is_stopped_and_fails() {
    let text = "{ name: x, on_failure: continue, tasks: [{ id: a, command: x, timeout: 5 }] }";
    let run = Run::new(World { hangs: ["a".to_owned()].into(), ..World::default() });
    assert_eq!(run.go(text).await, WorkflowState::Partly);
    let board = run.board();
    let task = &board.find(run.id).unwrap().graph.tasks[0];
    assert_eq!((task.state, task.error.as_deref()), (TaskState::Failed, Some("it took longer than 5 s")));
    assert_eq!(*run.world.stopped.lock().unwrap(), ["a"]);
    let run = Run::new(World { hangs: ["a".to_owned()].into(), ..World::default() });
    let all = "{ name: x, timeout: 7, tasks: [{ id: a, command: x }, { id: b, needs: [a], command: x }] }";
    assert_eq!(run.go(all).await, WorkflowState::Failed);
    let board = run.board();
    let error = board.find(run.id).unwrap().graph.tasks[0].error.clone();
    assert_eq!(error.as_deref(), Some("the workflow took longer than 7 s"));
}

#[tokio::test]
async fn cancelling_stops_for_good_and_interrupting_for_now() {
    let text = "{ name: x, tasks: [{ id: a, command: x }, { id: b, needs: [a], command: x }, { id: c, needs: [b], command: x }] }";
    for (interrupts, state, b) in [
        (false, WorkflowState::Cancelled, TaskState::Cancelled),
        (true, WorkflowState::Interrupted, TaskState::Pending),
    ] {
        let run = Run::new(World { hangs: ["b".to_owned()].into(), ..World::default() });
        let stop = async {
            run.world.hanging.notified().await;
            if interrupts { run.interrupt.cancel() } else { run.cancel.cancel() }
        };
        let (ended, ()) = tokio::join!(run.go(text), stop);
        assert_eq!(ended, state);
        assert_eq!(run.states()[..2], states(&[("a", TaskState::Completed), ("b", b)]));
        let mut told: Vec<WorkflowState> =
            run.world.updates.lock().unwrap().iter().map(|update| update.state).collect();
        told.dedup();
        assert_eq!(told, [WorkflowState::Running, state], "what was wanted is kept, and nothing is told after it");
        assert_eq!(*run.world.stopped.lock().unwrap(), ["b"]);
    }
}

#[tokio::test]
async fn what_can_not_be_kept_is_not_done() {
    for room in 0..4 {
        let run = Run::new(World { room: Some(room), ..World::default() });
        let error = run_it(run.setup(&file(CHAIN), None)).await.unwrap_err();
        assert_eq!(error.message, "the disk is full");
        let kept = run.board();
        for task in run.begun() {
            let known = kept.find(run.id).unwrap().graph.tasks.iter().find(|known| known.id == task).unwrap().clone();
            assert_ne!(known.state, TaskState::Pending, "{task} began unkept");
        }
    }
}

#[tokio::test]
async fn the_agent_that_a_crash_left_is_ended_before_its_task_is_done_again() {
    let text = "{ name: x, tasks: [{ id: a, command: x }] }";
    let run = Run::new(World { hangs: ["a".to_owned()].into(), ..World::default() });
    let told = async {
        let agent = || run.board().find(run.id).and_then(|recorded| recorded.graph.tasks[0].agent_id);
        while agent().is_none() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = run_it(run.setup(&file(text), None)) => panic!("it hangs"),
        () = told => {}
    }
    let recorded = run.board().find(run.id).unwrap().clone();
    let again = Run { id: run.id, ..Run::new(World::default()) };
    *again.world.updates.lock().unwrap() = run.world.updates.lock().unwrap().clone();
    assert_eq!(run_it(again.setup(&file(text), Some(recorded))).await.unwrap(), WorkflowState::Completed);
    assert_eq!(*again.world.abandoned.lock().unwrap(), [run.id], "also one whose agent was not told of yet");
    assert!(run.world.abandoned.lock().unwrap().is_empty(), "one that is new left nobody");
}

#[test]
fn a_run_that_nobody_runs_is_interrupted_and_can_be_cancelled_once() {
    let run = Run::new(World::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(run.go(CHAIN));
    let mut board = Board::default();
    run.world.updates.lock().unwrap().iter().take(2).cloned().for_each(|update| board.apply(update));
    let graphs = board.graphs(|_| false);
    assert_eq!(graphs[0].state, WorkflowState::Interrupted);
    assert!(graphs[0].tasks.iter().all(|task| task.state != TaskState::Running));
    assert_eq!(board.graphs(|_| true)[0].state, WorkflowState::Running);
    board.apply(cancelled(board.find(run.id).unwrap(), Actor::Person).unwrap());
    assert_eq!(board.graphs(|_| false)[0].state, WorkflowState::Cancelled);
    let again = cancelled(board.find(run.id).unwrap(), Actor::Person).unwrap_err().to_string();
    assert!(again.ends_with("is over: it is cancelled"), "{again}");
}

/// Hands and a log that both need one thing for a while, as the tree and the journal of a session do.
struct Shared(tokio::sync::Mutex<()>);

impl Hands for Arc<Shared> {
    fn begin(&self, _: TaskCall) -> BoxFuture<'static, Result<Begun, TaskError>> {
        let shared = Arc::clone(self);
        Box::pin(async move {
            let held = shared.0.lock().await;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            drop(held);
            Ok(Begun { agent: Some(AgentId::new()), end: Box::pin(std::future::ready(Ok(json!("done")))) })
        })
    }
}

impl Record for Shared {
    fn commit(&self, _: WorkflowUpdate) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async {
            let _held = self.0.lock().await;
            tokio::task::yield_now().await;
            Ok(())
        })
    }
}

#[tokio::test]
async fn many_tasks_at_a_time_do_not_wait_for_what_keeps_them() {
    let shared = Arc::new(Shared(tokio::sync::Mutex::new(())));
    let tasks: Vec<String> = (0..10).map(|task| format!("{{ id: k{task}, command: x }}")).collect();
    let text = format!("{{ name: x, limits: {{ parallel: 10, commands: 10 }}, tasks: [{}] }}", tasks.join(", "));
    let run = Run::new(World::default());
    let setup = RunnerSetup { hands: Arc::new(Arc::clone(&shared)), record: shared, ..run.setup(&file(&text), None) };
    let ended = tokio::time::timeout(Duration::from_secs(10), run_it(setup)).await;
    assert_eq!(ended.expect("it hangs").unwrap(), WorkflowState::Completed);
}

#[tokio::test]
async fn a_task_that_was_done_can_have_failed_all_the_same() {
    let text = "{ name: x, on_failure: continue, tasks: [{ id: a, command: x, fails_if: { condition: \"tasks.a.output == 'a is done'\", because: it is not enough } }, { id: b, needs: [a], command: x }, { id: c, command: x, fails_if: { condition: \"tasks.c.output == 'else'\", because: never } }] }";
    let run = Run::new(World::default());
    assert_eq!(run.go(text).await, WorkflowState::Partly);
    use TaskState::{Completed, Failed, Skipped};
    assert_eq!(run.states(), states(&[("a", Failed), ("b", Skipped), ("c", Completed)]));
    let board = run.board();
    let a = &board.find(run.id).unwrap().graph.tasks[0];
    assert_eq!((a.error.as_deref(), a.output.clone()), (Some("it is not enough"), Some(json!("a is done"))));
    let unread = file(
        "{ name: x, tasks: [{ id: a, command: x, fails_if: { condition: tasks.b.output, because: x } }, { id: b, command: x }] }",
    );
    let refused = Graph::new(&unread, &BTreeMap::new()).unwrap_err().to_string();
    assert!(refused.contains("fails_if") && refused.contains("does not need b"), "{refused}");
}

#[tokio::test]
async fn what_a_task_gave_that_was_not_wanted_can_not_be_read() {
    let text = "{ name: x, on_failure: continue, tasks: [{ id: a, when: 'false', command: x }, { id: b, needs: [a], command: 'echo {{ tasks.a.output }}' }, { id: c, needs: [a], command: 'echo {% if tasks.a.output is defined %}{{ tasks.a.output }}{% endif %}' }] }";
    let run = Run::new(World::default());
    assert_eq!(run.go(text).await, WorkflowState::Partly);
    assert_eq!(run.begun(), ["c"]);
}

/// A workflow by numbers: what each task needs among those before it, and whether it fails.
fn chains() -> impl Strategy<Value = (Vec<(Vec<usize>, bool)>, usize)> {
    let task = (proptest::collection::vec(0usize..100, 0..3), proptest::bool::weighted(0.2));
    (proptest::collection::vec(task, 1..12), 0usize..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whenever the process dies, what goes on afterwards does exactly what was not completed.
    #[test]
    fn a_crash_at_any_write_costs_only_what_was_not_completed((tasks, room) in chains()) {
        let entries: Vec<TaskEntry> = tasks.iter().enumerate().map(|(index, (needs, _))| TaskEntry {
            id: format!("t{index}"),
            needs: needs.iter().filter(|_| index > 0).map(|need| format!("t{}", need % index.max(1))).collect(),
            command: Some("x".to_owned()),
            ..TaskEntry::default()
        }).collect();
        let file = WorkflowFile {
            name: "x".to_owned(),
            description: String::new(),
            inputs: BTreeMap::new(),
            on_failure: Failure::Continue,
            limits: Limits { parallel: 3, agents: 3, commands: 3 },
            timeout: None,
            tasks: entries,
        };
        let fails = tasks.iter().enumerate().filter(|(_, (_, fails))| *fails).map(|(index, _)| (format!("t{index}"), 9)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let first = Run::new(World { room: Some(room), fails, ..World::default() });
        let died = runtime.block_on(run_it(first.setup(&file, None))).is_err();
        let board = first.board();
        if let Some(recorded) = board.find(first.id) {
            let done: BTreeSet<String> = recorded.graph.tasks.iter().filter(|task| task.state == TaskState::Completed).map(|task| task.id.clone()).collect();
            let again = Run { id: first.id, ..Run::new(World::default()) };
            *again.world.updates.lock().unwrap() = first.world.updates.lock().unwrap().clone();
            let state = runtime.block_on(run_it(again.setup(&file, Some(recorded.clone())))).unwrap();
            prop_assert_eq!(state, WorkflowState::Completed);
            let begun: BTreeSet<String> = again.begun().into_iter().collect();
            let all: BTreeSet<String> = file.tasks.iter().map(|task| task.id.clone()).collect();
            prop_assert_eq!(begun, all.difference(&done).cloned().collect::<BTreeSet<_>>());
        } else {
            prop_assert!(died && first.begun().is_empty());
        }
    }
}
