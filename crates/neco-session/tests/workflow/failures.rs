//! What every mix of failures comes to, against a small model of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use neco_proto::event::{TaskKind, TaskState, WorkflowState};
use neco_session::workflow::{Failure, Graph, Happened, Limits, Moved, Retry, Schedule, Step, TaskEntry, WorkflowFile};
use proptest::prelude::*;

use crate::{delivery, file};

#[test]
fn a_failure_that_is_tried_again_waits_longer_each_time() {
    let graph = delivery();
    let (mut schedule, moved) = Schedule::begin(&graph);
    assert_eq!(moved.steps, [Step::Begin(0)]);
    assert_eq!(schedule.on(Happened::Completed(0)).steps, [Step::Begin(1)]);
    assert_eq!(schedule.on(Happened::Completed(1)).steps, [Step::Begin(2)]);
    for seconds in [1.5, 3.0] {
        let how_long = Duration::from_secs_f64(seconds);
        assert_eq!(schedule.on(Happened::Failed(2)).steps, [Step::Rest { task: 2, how_long }]);
        assert_eq!(schedule.on(Happened::Failed(2)).steps, [], "it does not run");
        assert_eq!(schedule.on(Happened::Rested(2)).steps, [Step::Begin(2)]);
    }
    let end = schedule.on(Happened::Failed(2));
    assert_eq!(end.steps, [Step::Finish(WorkflowState::Partly)]);
    assert_eq!(schedule.states()[2..], [TaskState::Failed, TaskState::Skipped, TaskState::Skipped]);
    assert_eq!(end.changes.len(), 3);
}

/// A workflow by numbers: what each task needs among those before it, how it is handled, how often it fails.
#[derive(Clone, Debug)]
struct Plan {
    tasks: Vec<(Vec<usize>, Failure, u32, u8)>,
    limits: Limits,
}

fn plan(with_fail_fast: bool) -> impl Strategy<Value = Plan> {
    let retry = (0u32..3).prop_map(|times| Failure::RetryThenContinue(Retry { times, backoff: 0.0 }));
    let strategy =
        prop_oneof![4 => Just(Failure::Continue), 3 => retry, u32::from(with_fail_fast) => Just(Failure::FailFast)];
    let fails = prop_oneof![5 => Just(0u32), 2 => 1u32..4];
    let task = (proptest::collection::vec(0usize..1000, 0..4), strategy, fails, 0u8..3);
    let limits = (1usize..5, 1usize..4, 1usize..4);
    (proptest::collection::vec(task, 1..40), limits).prop_map(|(tasks, (parallel, agents, commands))| {
        let below = |(index, (needs, strategy, fails, class)): (usize, (Vec<usize>, Failure, u32, u8))| {
            let needs: BTreeSet<usize> = needs.iter().filter(|_| index > 0).map(|need| need % index.max(1)).collect();
            (needs.into_iter().collect(), strategy, fails, class)
        };
        Plan {
            tasks: tasks.into_iter().enumerate().map(below).collect(),
            limits: Limits { parallel, agents, commands },
        }
    })
}

fn graph(plan: &Plan) -> Graph {
    let name = |index: usize| format!("t{index}");
    let task = |(index, (needs, strategy, _, class)): (usize, &(Vec<usize>, Failure, u32, u8))| {
        let needs = needs.iter().map(|need| name(*need)).collect();
        let base = TaskEntry { id: name(index), needs, on_failure: Some(*strategy), ..TaskEntry::default() };
        match class {
            0 => TaskEntry { agent: Some("coder".to_owned()), prompt: Some("go".to_owned()), ..base },
            1 => TaskEntry { command: Some("true".to_owned()), ..base },
            _ => TaskEntry { tool: Some("glob".to_owned()), ..base },
        }
    };
    let tasks = plan.tasks.iter().enumerate().map(task).collect();
    Graph::new(&WorkflowFile { limits: plan.limits, ..file(tasks) }, &BTreeMap::new()).unwrap()
}

/// The tasks that may begin now, in the order of the file, as it follows from the states alone.
fn may_begin(graph: &Graph, states: &[TaskState]) -> Vec<usize> {
    let begins = |task: &usize| {
        let waits = matches!(states[*task], TaskState::Pending | TaskState::Ready);
        waits && graph.needs(*task).iter().all(|need| states[*need] == TaskState::Completed)
    };
    (0..graph.len()).filter(begins).collect()
}

/// What every task comes to when nothing stops everything: read off the order, without a schedule.
fn expected(plan: &Plan) -> Vec<TaskState> {
    let mut states = Vec::new();
    for (needs, strategy, fails, _) in &plan.tasks {
        let tries = match strategy {
            Failure::RetryThenContinue(retry) => retry.times + 1,
            Failure::Continue | Failure::FailFast => 1,
        };
        let met = needs.iter().all(|need| states[*need] == TaskState::Completed);
        states.push(match (met, *fails < tries) {
            (false, _) => TaskState::Skipped,
            (true, true) => TaskState::Completed,
            (true, false) => TaskState::Failed,
        });
    }
    states
}

/// Plays a workflow, `choices` saying which of the running tasks ends next; at most so many steps.
struct Play<'g> {
    graph: &'g Graph,
    plan: &'g Plan,
    schedule: Schedule<'g>,
    running: BTreeSet<usize>,
    resting: BTreeSet<usize>,
    begun: Vec<u32>,
    finished: Option<WorkflowState>,
}

impl<'g> Play<'g> {
    fn new(graph: &'g Graph, plan: &'g Plan, recorded: &[TaskState]) -> Self {
        let (schedule, moved) = Schedule::resume(graph, recorded);
        let begun = vec![0; graph.len()];
        let mut play =
            Self { graph, plan, schedule, running: BTreeSet::new(), resting: BTreeSet::new(), begun, finished: None };
        play.take(&moved.steps);
        play
    }

    fn take(&mut self, steps: &[Step]) {
        assert!(self.finished.is_none() || steps.is_empty(), "something happens after the end");
        for step in steps {
            match step {
                Step::Begin(task) => {
                    assert!(self.running.insert(*task), "t{task} runs twice");
                    let done = |need: &usize| self.schedule.states()[*need] == TaskState::Completed;
                    assert!(self.graph.needs(*task).iter().all(done), "t{task} began too early");
                    self.begun[*task] += 1;
                }
                Step::Rest { task, .. } => assert!(self.resting.insert(*task)),
                Step::Stop(task) => assert!(self.running.remove(task)),
                Step::Finish(outcome) => self.finished = Some(*outcome),
            }
        }
        let counts = |class: TaskKind| {
            self.running.iter().filter(|task| self.graph.task(**task).unwrap().work.kind() == class).count()
        };
        let limits = self.graph.limits;
        assert!(
            self.running.len() <= limits.parallel
                && counts(TaskKind::Agent) <= limits.agents
                && counts(TaskKind::Command) <= limits.commands
        );
        let waiting = |state: &TaskState| *state == TaskState::Ready;
        let mut next: BTreeSet<usize> = self
            .schedule
            .states()
            .iter()
            .enumerate()
            .filter(|(_, state)| waiting(state))
            .map(|(task, _)| task)
            .collect();
        if self.finished.is_none() {
            next.extend(&self.resting);
        }
        assert_eq!(may_begin(self.graph, self.schedule.states()), next.into_iter().collect::<Vec<_>>());
    }

    /// One thing happens; false when nothing can.
    fn step(&mut self, choice: usize) -> bool {
        let all: Vec<usize> = self.running.iter().chain(&self.resting).copied().collect();
        if all.is_empty() || self.finished.is_some() {
            return false;
        }
        let task = all[choice % all.len()];
        let happened = if self.resting.remove(&task) {
            Happened::Rested(task)
        } else {
            self.running.remove(&task);
            let fails = self.begun[task] <= self.plan.tasks[task].2;
            if fails { Happened::Failed(task) } else { Happened::Completed(task) }
        };
        let moved = self.schedule.on(happened);
        self.take(&moved.steps);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_graph_and_failures_come_to_what_the_order_says(plan in plan(false), choices in proptest::collection::vec(0usize..1000, 400)) {
        let graph = graph(&plan);
        let mut play = Play::new(&graph, &plan, &[]);
        for choice in choices.iter().cycle().take(4000) {
            if !play.step(*choice) {
                break;
            }
        }
        let wanted = expected(&plan);
        prop_assert_eq!(play.schedule.states(), &wanted);
        let all = wanted.iter().all(|state| *state == TaskState::Completed);
        prop_assert_eq!(play.finished, Some(if all { WorkflowState::Completed } else { WorkflowState::Partly }));
        prop_assert!(plan.tasks.iter().zip(&play.begun).zip(&wanted).all(|((_, begun), state)| (*begun == 0) == (*state == TaskState::Skipped)));
    }

    #[test]
    fn a_failure_that_stops_everything_does(plan in plan(true), choices in proptest::collection::vec(0usize..1000, 400)) {
        let graph = graph(&plan);
        let mut play = Play::new(&graph, &plan, &[]);
        let mut completed = BTreeSet::new();
        for choice in choices.iter().cycle().take(4000) {
            let now = play.schedule.states().iter().enumerate().filter(|(_, state)| **state == TaskState::Completed);
            completed.extend(now.map(|(task, _)| task));
            if !play.step(*choice) {
                break;
            }
        }
        prop_assert!(play.finished.is_some() && play.running.is_empty());
        let states = play.schedule.states();
        prop_assert!(states.iter().all(|state| state.is_final()));
        prop_assert!(completed.iter().all(|task| states[*task] == TaskState::Completed), "what was done is undone");
        let fatal = states.iter().zip(&plan.tasks).any(|(state, task)| *state == TaskState::Failed && task.1 == Failure::FailFast);
        prop_assert_eq!(fatal, play.finished == Some(WorkflowState::Failed));
        if !fatal {
            prop_assert_eq!(states, expected(&plan));
        }
    }

    #[test]
    fn after_a_crash_only_what_was_not_completed_is_done_again(plan in plan(true), choices in proptest::collection::vec(0usize..1000, 1..60)) {
        let graph = graph(&plan);
        let mut play = Play::new(&graph, &plan, &[]);
        for choice in &choices {
            if !play.step(*choice) {
                break;
            }
        }
        let recorded = play.schedule.states().to_vec();
        let calm = Plan { tasks: plan.tasks.iter().cloned().map(|(needs, strategy, _, class)| (needs, strategy, 0, class)).collect(), ..plan.clone() };
        let mut again = Play::new(&graph, &calm, &recorded);
        while again.step(0) {}
        prop_assert_eq!(again.finished, Some(WorkflowState::Completed));
        for (task, state) in recorded.iter().enumerate() {
            prop_assert_eq!(again.begun[task], u32::from(*state != TaskState::Completed));
        }
    }

    #[test]
    fn cancelling_ends_it_at_any_point(plan in plan(true), choices in proptest::collection::vec(0usize..1000, 0..30)) {
        let graph = graph(&plan);
        let mut play = Play::new(&graph, &plan, &[]);
        for choice in &choices {
            if !play.step(*choice) {
                break;
            }
        }
        let before = play.finished;
        let moved = play.schedule.on(Happened::Cancel);
        play.take(&moved.steps);
        prop_assert_eq!(play.finished, before.or(Some(WorkflowState::Cancelled)));
        prop_assert!(play.running.is_empty());
        prop_assert_eq!(play.schedule.on(Happened::Cancel), Moved::default());
    }
}
