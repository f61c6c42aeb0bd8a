//! What happens next in a workflow: tasks begin when all they need is done and there is room.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use neco_proto::event::{TaskKind, TaskState, WorkflowState};

use super::definition::Failure;
use super::graph::{Graph, TaskIndex};

/// The longest wait before a task is tried again.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Something that happened to a task that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// It is done.
    Completed(TaskIndex),
    /// It was done wrong.
    Failed(TaskIndex),
    /// The wait before another try is over.
    Rested(TaskIndex),
    /// Somebody stops the workflow.
    Cancel,
    /// The workflow takes longer than it may.
    TimedOut,
}

/// A task went from one state to another; recorded before anything is done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub task: TaskIndex,
    /// Its state now.
    pub to: TaskState,
    /// How often it was begun.
    pub attempt: u32,
}

/// Something that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begin a task.
    Begin(TaskIndex),
    /// Wait, then say [`Happened::Rested`].
    Rest {
        /// Of which task.
        task: TaskIndex,
        /// How long.
        how_long: Duration,
    },
    /// Stop a task that runs; what it says afterwards is not heard.
    Stop(TaskIndex),
    /// Nothing more will happen.
    Finish(WorkflowState),
}

/// What follows from something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// To be recorded first.
    pub changes: Vec<Change>,
    /// To be done then.
    pub steps: Vec<Step>,
}

/// A workflow at work.
#[derive(Clone, Debug)]
pub struct Schedule<'g> {
    graph: &'g Graph,
    states: Vec<TaskState>,
    /// How often each was begun.
    attempts: Vec<u32>,
    /// How many of its needs each still waits for.
    waits: Vec<usize>,
    ready: HashMap<TaskKind, BinaryHeap<Reverse<TaskIndex>>>,
    running: HashMap<TaskKind, usize>,
    /// Tasks that are not in a final state.
    open: usize,
    /// Why everything is stopped, when it is.
    stopped: Option<WorkflowState>,
    moved: Moved,
}

impl<'g> Schedule<'g> {
    /// Begins a workflow.
    pub fn begin(graph: &'g Graph) -> (Self, Moved) {
        Self::resume(graph, &[])
    }

    /// Goes on with a workflow of which this was recorded: what is completed stays, all else is done again.
    pub fn resume(graph: &'g Graph, recorded: &[TaskState]) -> (Self, Moved) {
        let done = |task: TaskIndex| recorded.get(task) == Some(&TaskState::Completed);
        let states: Vec<TaskState> =
            (0..graph.len()).map(|task| if done(task) { TaskState::Completed } else { TaskState::Pending }).collect();
        let waits = (0..graph.len()).map(|task| graph.needs(task).iter().filter(|need| !done(**need)).count());
        let open = states.iter().filter(|state| !state.is_final()).count();
        let mut schedule = Self {
            graph,
            attempts: vec![0; graph.len()],
            waits: waits.collect(),
            ready: HashMap::new(),
            running: HashMap::new(),
            open,
            stopped: None,
            moved: Moved::default(),
            states,
        };
        for task in 0..graph.len() {
            if schedule.state(task) == TaskState::Pending && schedule.waits.get(task) == Some(&0) {
                schedule.make_ready(task);
            }
        }
        let moved = schedule.moved();
        (schedule, moved)
    }

    /// Takes in what happened; says what follows. What a task says that does not run is not heard.
    pub fn on(&mut self, happened: Happened) -> Moved {
        match happened {
            Happened::Completed(task) if self.state(task) == TaskState::Running => self.completed(task),
            Happened::Failed(task) if self.state(task) == TaskState::Running => self.failed(task),
            Happened::Rested(task) if self.rests(task) => self.make_ready(task),
            Happened::Cancel if self.open > 0 => self.stop_all(WorkflowState::Cancelled),
            Happened::TimedOut if self.open > 0 => self.stop_all(WorkflowState::Failed),
            Happened::Completed(_)
            | Happened::Failed(_)
            | Happened::Rested(_)
            | Happened::Cancel
            | Happened::TimedOut => return Moved::default(),
        }
        self.moved()
    }

    /// The states as they are.
    pub fn states(&self) -> &[TaskState] {
        &self.states
    }

    /// What came of it, when nothing more will happen.
    pub fn outcome(&self) -> Option<WorkflowState> {
        if self.open > 0 {
            return None;
        }
        let all_done = self.states.iter().all(|state| *state == TaskState::Completed);
        Some(self.stopped.unwrap_or(if all_done { WorkflowState::Completed } else { WorkflowState::Partly }))
    }

    fn completed(&mut self, task: TaskIndex) {
        self.leave(task, TaskState::Completed);
        let graph = self.graph;
        for next in graph.needed_by(task) {
            let Some(waits) = self.waits.get_mut(*next) else { continue };
            *waits = waits.saturating_sub(1);
            if *waits == 0 && self.state(*next) == TaskState::Pending {
                self.make_ready(*next);
            }
        }
    }

    fn failed(&mut self, task: TaskIndex) {
        let strategy = self.graph.task(task).map(|task| task.on_failure).unwrap_or_default();
        match strategy {
            Failure::RetryThenContinue(retry) if self.attempt(task) <= retry.times => {
                self.leave(task, TaskState::Pending);
                let how_long = rest(retry.backoff, self.attempt(task));
                self.moved.steps.push(Step::Rest { task, how_long });
            }
            Failure::RetryThenContinue(_) | Failure::Continue => {
                self.leave(task, TaskState::Failed);
                self.skip_below(task);
            }
            Failure::FailFast => {
                self.leave(task, TaskState::Failed);
                self.stop_all(WorkflowState::Failed);
            }
        }
    }

    fn skip_below(&mut self, task: TaskIndex) {
        let graph = self.graph;
        let mut next: Vec<TaskIndex> = graph.needed_by(task).to_vec();
        while let Some(task) = next.pop() {
            if !self.state(task).is_final() {
                self.set(task, TaskState::Skipped);
                next.extend(graph.needed_by(task));
            }
        }
    }

    fn stop_all(&mut self, why: WorkflowState) {
        self.stopped = Some(why);
        for task in 0..self.graph.len() {
            match self.state(task) {
                TaskState::Running => {
                    self.leave(task, TaskState::Cancelled);
                    self.moved.steps.push(Step::Stop(task));
                }
                TaskState::Pending | TaskState::Ready => self.set(task, TaskState::Cancelled),
                TaskState::Completed | TaskState::Failed | TaskState::Cancelled | TaskState::Skipped => {}
            }
        }
        self.ready.clear();
    }

    fn make_ready(&mut self, task: TaskIndex) {
        self.set(task, TaskState::Ready);
        if let Some(class) = self.graph.kind(task) {
            self.ready.entry(class).or_default().push(Reverse(task));
        }
    }

    /// Begins what there is room for, and hands over all that follows.
    fn moved(&mut self) -> Moved {
        while let Some(task) = self.next_ready() {
            if let Some(attempt) = self.attempts.get_mut(task) {
                *attempt += 1;
            }
            self.set(task, TaskState::Running);
            if let Some(class) = self.graph.kind(task) {
                *self.running.entry(class).or_default() += 1;
            }
            self.moved.steps.push(Step::Begin(task));
        }
        if let Some(outcome) = self.outcome() {
            self.moved.steps.push(Step::Finish(outcome));
        }
        std::mem::take(&mut self.moved)
    }

    /// The first task in the order of the file that may begin now.
    fn next_ready(&mut self) -> Option<TaskIndex> {
        let limits = self.graph.limits;
        if self.running.values().sum::<usize>() >= limits.parallel {
            return None;
        }
        let has_room = |class: TaskKind| {
            let most = match class {
                TaskKind::Agent => limits.agents,
                TaskKind::Command => limits.commands,
                TaskKind::Tool => limits.parallel,
            };
            self.running.get(&class).copied().unwrap_or_default() < most
        };
        let heads = self.ready.iter().filter(|(class, _)| has_room(**class));
        let heads = heads.filter_map(|(class, heap)| Some((heap.peek()?.0, *class)));
        let (_, class) = heads.min_by_key(|(task, _)| *task)?;
        self.ready.get_mut(&class)?.pop().map(|Reverse(task)| task)
    }

    /// A task does not run any more.
    fn leave(&mut self, task: TaskIndex, to: TaskState) {
        if let Some(class) = self.graph.kind(task)
            && let Some(count) = self.running.get_mut(&class)
        {
            *count = count.saturating_sub(1);
        }
        self.set(task, to);
    }

    fn set(&mut self, task: TaskIndex, to: TaskState) {
        let attempt = self.attempt(task);
        let Some(state) = self.states.get_mut(task) else { return };
        if to.is_final() && !state.is_final() {
            self.open -= 1;
        }
        *state = to;
        self.moved.changes.push(Change { task, to, attempt });
    }

    fn rests(&self, task: TaskIndex) -> bool {
        self.state(task) == TaskState::Pending && self.attempt(task) > 0
    }

    fn attempt(&self, task: TaskIndex) -> u32 {
        self.attempts.get(task).copied().unwrap_or_default()
    }

    /// A task that does not exist is as good as stopped.
    fn state(&self, task: TaskIndex) -> TaskState {
        self.states.get(task).copied().unwrap_or(TaskState::Cancelled)
    }
}

/// How long is waited after the attempt of this number.
fn rest(backoff: f64, attempt: u32) -> Duration {
    let doubled = backoff * f64::from(2u32.saturating_pow(attempt.saturating_sub(1).min(20)));
    Duration::try_from_secs_f64(doubled).unwrap_or(LONGEST).min(LONGEST)
}
