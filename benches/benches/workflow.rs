//! Workflows: what ten thousand tasks that do nothing cost, and whether ten times as many cost ten times as much;
//! of the schedule alone, and of the runner that keeps every change.

#[path = "support/promise.rs"]
#[allow(dead_code, reason = "not every figure needs a median")]
mod promise;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::{BoxFuture, ready};
use neco_agent::SinkError;
use neco_proto::WorkflowId;
use neco_proto::event::{WorkflowState, WorkflowUpdate};
use neco_session::workflow::{
    Begun, Failure, Graph, Hands, Happened, Limits, RealTime, Record, RunnerSetup, Schedule, Step, TaskCall, TaskEntry,
    TaskError, WorkflowFile, run,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Tasks.
const MANY: usize = 10_000;
/// How often it is measured; the best counts, as everything else is the machine's.
const ROUNDS: usize = 5;
/// Seconds for all of them.
const PROMISED: f64 = 1.0;
/// Ten times as many may take so many times as long.
const LINEAR: f64 = 20.0;

fn main() -> Result<(), String> {
    if !promise::is_asked_for() {
        return Ok(());
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let scheduled = |count| best(|| schedule(count));
    let ran = |count| best(|| runtime.block_on(runner(count)));
    let plain = best(|| Ok(runtime.block_on(plain(MANY))))?;
    tell("10,000 tasks, scheduled", scheduled(MANY)?, scheduled(MANY * 10)?, plain);
    tell("10,000 tasks, run", ran(MANY)?, ran(MANY * 10)?, plain);
    Ok(())
}

/// As many plain tasks of the runtime, started and waited for.
async fn plain(count: usize) -> Duration {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..count).map(|_| tokio::spawn(ready(()))).collect();
    futures::future::join_all(tasks).await;
    begun.elapsed()
}

fn tell(name: &str, few: Duration, many: Duration, plain: Duration) {
    let (seconds, ratio) = (few.as_secs_f64(), many.as_secs_f64() / few.as_secs_f64());
    let value = format!("{:.0} ms; as many plain tasks {:.1} ms", seconds * 1000.0, plain.as_secs_f64() * 1000.0);
    promise::report(name, &value, "< 1 s", seconds < PROMISED);
    promise::report(&format!("{name}, ten times as many"), &format!("× {ratio:.1}"), "about × 10", ratio < LINEAR);
}

fn best(measure: impl Fn() -> Result<Duration, String>) -> Result<Duration, String> {
    let times = (0..ROUNDS).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
    times.into_iter().min().ok_or_else(|| "nothing was measured".to_owned())
}

/// Tasks of which most need some of those before them.
fn file(count: usize) -> WorkflowFile {
    let name = |index: usize| format!("t{index}");
    let task = |index: usize| {
        let needs = [index.checked_sub(1), index.checked_sub(7), index.checked_sub(100)];
        let needs = needs.into_iter().flatten().filter(|need| need % 5 != 0).map(name).collect();
        TaskEntry { id: name(index), needs, command: Some("true".to_owned()), ..TaskEntry::default() }
    };
    WorkflowFile {
        name: "no-ops".to_owned(),
        description: String::new(),
        inputs: BTreeMap::new(),
        on_failure: Failure::Continue,
        limits: Limits { parallel: 64, agents: 64, commands: 64 },
        timeout: None,
        tasks: (0..count).map(task).collect(),
    }
}

fn schedule(count: usize) -> Result<Duration, String> {
    let file = file(count);
    let begun = Instant::now();
    let graph = Graph::new(&file, &BTreeMap::new()).map_err(|error| error.to_string())?;
    let (mut schedule, moved) = Schedule::begin(&graph);
    let mut next = moved.steps;
    while let Some(step) = next.pop() {
        if let Step::Begin(task) = step {
            next.extend(schedule.on(Happened::Completed(task)).steps);
        }
    }
    let taken = begun.elapsed();
    if schedule.outcome() == Some(WorkflowState::Completed) { Ok(taken) } else { Err("tasks are left".to_owned()) }
}

async fn runner(count: usize) -> Result<Duration, String> {
    let file = file(count);
    let kept = Arc::new(Kept::default());
    let begun = Instant::now();
    let graph = Graph::new(&file, &BTreeMap::new()).map_err(|error| error.to_string())?;
    let state = run(RunnerSetup {
        id: WorkflowId::new(),
        file,
        graph,
        recorded: None,
        record: kept,
        hands: Arc::new(Idle),
        clock: Arc::new(RealTime),
        cancel: CancellationToken::new(),
        interrupt: CancellationToken::new(),
    })
    .await
    .map_err(|error| error.to_string())?;
    let taken = begun.elapsed();
    if state == WorkflowState::Completed { Ok(taken) } else { Err(format!("the workflow is {state}")) }
}

/// Hands that are done at once.
struct Idle;

impl Hands for Idle {
    fn begin(&self, _: TaskCall) -> BoxFuture<'static, Result<Begun, TaskError>> {
        Box::pin(ready(Ok(Begun { agent: None, end: Box::pin(ready(Ok(Value::from("done")))) })))
    }
}

/// Counts what would be written.
#[derive(Default)]
struct Kept(AtomicUsize);

impl Record for Kept {
    fn commit(&self, update: WorkflowUpdate) -> BoxFuture<'_, Result<(), SinkError>> {
        self.0.fetch_add(update.tasks.len(), Ordering::Relaxed);
        Box::pin(ready(Ok(())))
    }
}
