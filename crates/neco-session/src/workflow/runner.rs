//! A workflow at work: every change is kept before anything is done about it.
//!
//! The order of a round: what happened goes into the schedule, what changed is committed, then tasks
//! begin, stop or rest. Whoever reads the log after a crash therefore finds every task that may have
//! begun, and what is completed there is never done again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use neco_agent::SinkError;
use neco_proto::event::{TaskState, WorkflowState, WorkflowTask, WorkflowUpdate};
use neco_proto::{AgentId, WorkflowId};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::board::Recorded;
use super::definition::WorkflowFile;
use super::graph::{Graph, TaskIndex};
use super::hands::{Ended, Hands, Record, TaskCall, TaskClock, TaskError};
use super::schedule::{Change, Happened, Moved, Schedule, Step};
use super::template::Values;

/// What a workflow that is to run is made of.
pub struct RunnerSetup {
    /// Which one.
    pub id: WorkflowId,
    /// All of it.
    pub file: WorkflowFile,
    /// What it means.
    pub graph: Graph,
    /// What is known of it, when it goes on.
    pub recorded: Option<Recorded>,
    /// Keeps what happens.
    pub record: Arc<dyn Record>,
    /// Does the tasks.
    pub hands: Arc<dyn Hands>,
    /// The time.
    pub clock: Arc<dyn TaskClock>,
    /// Set when somebody stops it for good.
    pub cancel: CancellationToken,
    /// Set when it is to stop so that it can go on later.
    pub interrupt: CancellationToken,
}

/// Runs a workflow to its end.
/// Fails when what happens can't be kept any more: everything is stopped then.
pub async fn run(setup: RunnerSetup) -> Result<WorkflowState, SinkError> {
    // Unbounded: every task that begins says so once, and the graph has a bound.
    let (told, begun) = mpsc::unbounded_channel();
    let mut runner = Runner {
        setup: &setup,
        tasks: tasks(&setup.graph, setup.recorded.as_ref()),
        values: Values::of(&setup.graph),
        working: FuturesUnordered::new(),
        stops: HashMap::new(),
        told,
        begun,
        has_told: false,
        wanted: WorkflowState::Running,
    };
    let states = runner.recall();
    if setup.recorded.is_some() {
        // The agents that a process left when it was gone: their tasks are done again.
        setup.hands.abandon(setup.id).await;
    }
    let result = runner.work(&states).await;
    if result.is_err() {
        // Nothing can be kept, so what is left is to stop everything.
        runner.settle().await;
    }
    result
}

/// Something that a task does by itself.
enum Worked {
    Ended(TaskIndex, Ended),
    Rested(TaskIndex),
    /// Not wanted: done without doing anything.
    Unwanted(TaskIndex),
}

struct Runner<'g> {
    setup: &'g RunnerSetup,
    /// What is told of each.
    tasks: Vec<WorkflowTask>,
    values: Values,
    working: FuturesUnordered<BoxFuture<'static, Worked>>,
    stops: HashMap<TaskIndex, CancellationToken>,
    told: mpsc::UnboundedSender<(TaskIndex, AgentId)>,
    begun: mpsc::UnboundedReceiver<(TaskIndex, AgentId)>,
    /// Whether anything was told yet.
    has_told: bool,
    /// What is told of it while something of it runs: that it does, or that somebody stopped it for good.
    wanted: WorkflowState,
}

impl<'g> Runner<'g> {
    async fn work(&mut self, states: &[TaskState]) -> Result<WorkflowState, SinkError> {
        let RunnerSetup { graph, cancel, interrupt, .. } = self.setup;
        let (mut schedule, mut moved) = Schedule::resume(graph, states);
        let mut timeout = self.timeout(self.setup.file.timeout);
        let mut cancelled = false;
        loop {
            let finished = self.carry_out(std::mem::take(&mut moved)).await?;
            if let Some(state) = finished {
                return Ok(state);
            }
            // Tasks that were stopped are waited for: nothing of them runs when the end is told.
            if let Some(outcome) = schedule.outcome() {
                self.settle().await;
                return self.close(outcome).await;
            }
            tokio::select! {
                biased;
                () = interrupt.cancelled() => return self.break_off().await,
                () = cancel.cancelled(), if !cancelled => {
                    cancelled = true;
                    // Kept before anything is stopped: whoever stops it for good means it, also after a crash.
                    self.wanted = WorkflowState::Cancelled;
                    moved = schedule.on(Happened::Cancel);
                }
                () = &mut timeout => {
                    timeout = Box::pin(futures::future::pending());
                    self.say_timed_out();
                    moved = schedule.on(Happened::TimedOut);
                }
                Some((task, agent)) = self.begun.recv() => self.tell_agent(task, agent).await?,
                Some(worked) = self.working.next() => {
                    let mut next = Some(worked);
                    // What is done at the same time is kept with one write.
                    while let Some(worked) = next {
                        let more = self.absorb(&mut schedule, worked);
                        moved.changes.extend(more.changes);
                        moved.steps.extend(more.steps);
                        next = self.working.next().now_or_never().flatten();
                    }
                }
            }
        }
    }

    /// What completed tasks gave, and how far all were.
    fn recall(&mut self) -> Vec<TaskState> {
        let Some(recorded) = &self.setup.recorded else { return Vec::new() };
        let by_name = by_name(recorded);
        let mut states = Vec::with_capacity(self.setup.graph.len());
        for task in self.setup.graph.tasks() {
            let known = by_name.get(task.name.as_str());
            if let Some(known) = known.filter(|known| known.state == TaskState::Completed) {
                let output = known.output.clone().unwrap_or_default();
                self.values.give(task, output, known.error.is_some());
            }
            states.push(known.map(|known| known.state).unwrap_or_default());
        }
        states
    }

    /// Keeps what changed, then does what follows; gives the state when everything is over by it.
    async fn carry_out(&mut self, moved: Moved) -> Result<Option<WorkflowState>, SinkError> {
        let finish = moved.steps.iter().find_map(|step| match step {
            Step::Finish(outcome) => Some(*outcome),
            Step::Begin(_) | Step::Rest { .. } | Step::Stop(_) => None,
        });
        let over = finish.filter(|_| self.working.is_empty());
        let changed = self.note(&moved.changes);
        let state = over.unwrap_or(self.wanted);
        match (std::mem::replace(&mut self.has_told, true), self.setup.recorded.is_some()) {
            (false, false) => self.setup.record.commit(self.beginning(state)).await?,
            // How all tasks stand now that it goes on.
            (false, true) => self.setup.record.commit(self.update(state, self.tasks.clone())).await?,
            (true, _) if changed.is_empty() && over.is_none() => {}
            (true, _) => self.setup.record.commit(self.update(state, changed)).await?,
        }
        for step in moved.steps {
            match step {
                Step::Begin(task) => self.begin(task),
                Step::Rest { task, how_long } => self.rest(task, how_long),
                Step::Stop(task) => {
                    if let Some(stop) = self.stops.get(&task) {
                        stop.cancel();
                    }
                }
                Step::Finish(_) => {}
            }
        }
        Ok(over)
    }

    /// Writes changes down; gives those tasks, each once and as it is now.
    fn note(&mut self, changes: &[Change]) -> Vec<WorkflowTask> {
        let now = self.setup.clock.now();
        let mut order: Vec<TaskIndex> = Vec::new();
        for Change { task, to, attempt } in changes {
            let Some(told) = self.tasks.get_mut(*task) else { continue };
            told.state = *to;
            told.attempts = *attempt;
            match to {
                TaskState::Running => {
                    told.started = Some(now);
                    (told.ended, told.agent_id, told.error, told.output) = (None, None, None, None);
                }
                TaskState::Completed | TaskState::Failed => told.ended = Some(now),
                TaskState::Cancelled => told.ended = told.started.map(|_| now),
                TaskState::Pending | TaskState::Ready | TaskState::Skipped => {}
            }
            order.push(*task);
        }
        let mut seen = std::collections::HashSet::new();
        order.retain(|task| seen.insert(*task));
        order.into_iter().filter_map(|task| self.tasks.get(task).cloned()).collect()
    }

    fn begin(&mut self, index: TaskIndex) {
        let Some(task) = self.setup.graph.task(index) else { return };
        let filled = self.values.wants(task).and_then(|wanted| match wanted {
            true => self.values.fill(task).map(Some),
            false => Ok(None),
        });
        let work = match filled {
            Ok(Some(work)) => work,
            Ok(None) => return self.working.push(Box::pin(std::future::ready(Worked::Unwanted(index)))),
            Err(error) => {
                let failed = Worked::Ended(index, Err(error.into()));
                return self.working.push(Box::pin(std::future::ready(failed)));
            }
        };
        let cancel = CancellationToken::new();
        self.stops.insert(index, cancel.clone());
        let call = TaskCall { workflow: self.setup.id, task: task.name.clone(), work, timeout: task.timeout, cancel };
        let limit = task.timeout.map(|seconds| (seconds, self.timeout(Some(seconds))));
        let (begins, told) = (self.setup.hands.begin(call.clone()), self.told.clone());
        let does = async move {
            let begun = begins.await?;
            if let Some(agent) = begun.agent {
                // Nobody listens any more when the workflow is over.
                let _ = told.send((index, agent));
            }
            begun.end.await
        };
        // A task of its own: it may hold what keeping an update waits for, and nothing polls it meanwhile here.
        let works = tokio::spawn(async move { within(limit, &call.cancel, does).await });
        let works = AbortOnDropHandle::new(works);
        self.working
            .push(Box::pin(async move { Worked::Ended(index, works.await.unwrap_or(Err(TaskError::Crashed))) }));
    }

    fn rest(&mut self, task: TaskIndex, how_long: Duration) {
        let waits = self.setup.clock.wait(how_long);
        self.working.push(Box::pin(async move {
            waits.await;
            Worked::Rested(task)
        }));
    }

    fn absorb(&mut self, schedule: &mut Schedule<'g>, worked: Worked) -> Moved {
        let happened = match worked {
            Worked::Rested(task) => Happened::Rested(task),
            Worked::Unwanted(index) => {
                self.ended(index, Ok(Value::Null));
                Happened::Completed(index)
            }
            Worked::Ended(index, end) => {
                self.stops.remove(&index);
                let running = schedule.states().get(index) == Some(&TaskState::Running);
                if !running {
                    return Moved::default();
                }
                let done = self.ended(index, end) && self.holds_good(index);
                if done { Happened::Completed(index) } else { Happened::Failed(index) }
            }
        };
        schedule.on(happened)
    }

    /// Keeps what came of a task; whether it counts as done.
    fn ended(&mut self, index: TaskIndex, end: Ended) -> bool {
        let (Some(task), Some(told)) = (self.setup.graph.task(index), self.tasks.get_mut(index)) else { return false };
        match end {
            Ok(output) => {
                told.output = Some(output.clone()).filter(|output| !output.is_null());
                self.values.give(task, output, false);
                true
            }
            Err(error) => {
                let words = error.to_string();
                told.error = Some(words.clone());
                if task.accept_failure {
                    told.output = Some(Value::String(words.clone()));
                    self.values.give(task, Value::String(words), true);
                }
                task.accept_failure
            }
        }
    }

    /// Whether a task that was done counts as done; what it gave is kept in any case.
    fn holds_good(&mut self, index: TaskIndex) -> bool {
        let (Some(task), Some(told)) = (self.setup.graph.task(index), self.tasks.get_mut(index)) else { return false };
        let because = match self.values.failure(task) {
            Ok(None) => return true,
            Ok(Some(because)) => because,
            Err(error) => error.to_string(),
        };
        told.error = Some(because);
        if task.accept_failure {
            self.values.give(task, told.output.clone().unwrap_or_default(), true);
        }
        task.accept_failure
    }

    async fn tell_agent(&mut self, task: TaskIndex, agent: AgentId) -> Result<(), SinkError> {
        let Some(told) = self.tasks.get_mut(task) else { return Ok(()) };
        told.agent_id = Some(agent);
        let told = told.clone();
        self.setup.record.commit(self.update(self.wanted, vec![told])).await
    }

    /// Stops everything that runs and waits until it does not.
    async fn settle(&mut self) {
        self.stops.values().for_each(CancellationToken::cancel);
        let running = std::mem::take(&mut self.working);
        // What only rests has nothing to stop.
        let mut running: FuturesUnordered<_> = running.into_iter().collect();
        while !self.stops.is_empty() {
            match running.next().await {
                Some(Worked::Ended(task, _)) => drop(self.stops.remove(&task)),
                Some(Worked::Rested(_) | Worked::Unwanted(_)) => {}
                None => return,
            }
        }
    }

    async fn close(&mut self, state: WorkflowState) -> Result<WorkflowState, SinkError> {
        self.setup.record.commit(self.update(state, Vec::new())).await?;
        Ok(state)
    }

    /// Stops so that it can go on later: what ran is to be done again.
    async fn break_off(&mut self) -> Result<WorkflowState, SinkError> {
        self.settle().await;
        if self.wanted == WorkflowState::Cancelled {
            return self.close(WorkflowState::Cancelled).await;
        }
        let mut changed = Vec::new();
        for told in &mut self.tasks {
            if matches!(told.state, TaskState::Running | TaskState::Ready) {
                told.state = TaskState::Pending;
                changed.push(told.clone());
            }
        }
        self.setup.record.commit(self.update(WorkflowState::Interrupted, changed)).await?;
        Ok(WorkflowState::Interrupted)
    }

    fn say_timed_out(&mut self) {
        let words = format!("the workflow took longer than {} s", self.setup.file.timeout.unwrap_or_default());
        for told in self.tasks.iter_mut().filter(|told| told.state == TaskState::Running) {
            told.error = Some(words.clone());
        }
    }

    /// The first thing that is told: everything, so that no file is needed to go on.
    fn beginning(&self, state: WorkflowState) -> WorkflowUpdate {
        let inputs = self.setup.graph.inputs.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        WorkflowUpdate {
            definition: Some(self.setup.file.to_value()),
            inputs: Some(Value::Object(inputs)),
            by: None,
            ..self.update(state, self.tasks.clone())
        }
    }

    fn update(&self, state: WorkflowState, tasks: Vec<WorkflowTask>) -> WorkflowUpdate {
        WorkflowUpdate {
            workflow_id: self.setup.id,
            name: self.setup.file.name.clone(),
            state,
            strategy: self.setup.file.on_failure.name().to_owned(),
            tasks,
            definition: None,
            inputs: None,
            by: None,
        }
    }

    fn timeout(&self, seconds: Option<f64>) -> BoxFuture<'static, ()> {
        match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            Some(how_long) => self.setup.clock.wait(how_long),
            None => Box::pin(futures::future::pending()),
        }
    }
}

/// How a task ends that may take so long. One that takes longer is stopped, and waited for.
async fn within(
    limit: Option<(f64, BoxFuture<'static, ()>)>,
    cancel: &CancellationToken,
    does: impl Future<Output = Ended>,
) -> Ended {
    let Some((seconds, over)) = limit else { return does.await };
    let mut does = std::pin::pin!(does);
    tokio::select! {
        biased;
        end = &mut does => end,
        () = over => {
            cancel.cancel();
            let _ = does.await;
            Err(TaskError::TooSlow { seconds })
        }
    }
}

/// What is told of each task at the start.
fn tasks(graph: &Graph, recorded: Option<&Recorded>) -> Vec<WorkflowTask> {
    let name = |index: &TaskIndex| graph.task(*index).map(|task| task.name.clone());
    let by_name = recorded.map(by_name).unwrap_or_default();
    let known = |name: &str| by_name.get(name).copied().cloned();
    graph
        .tasks()
        .enumerate()
        .map(|(index, task)| {
            let new = || task.work.pending(task.name.clone(), graph.needs(index).iter().filter_map(name).collect());
            let known = known(&task.name).map(|known| match known.state {
                TaskState::Completed => known,
                _ => {
                    WorkflowTask { agent_id: None, error: None, ..WorkflowTask { state: TaskState::Pending, ..known } }
                }
            });
            known.unwrap_or_else(new)
        })
        .collect()
}

fn by_name(recorded: &Recorded) -> HashMap<&str, &WorkflowTask> {
    recorded.graph.tasks.iter().map(|task| (task.id.as_str(), task)).collect()
}
