//! What a workflow means: tasks by index, what each waits for and who waits for it.

use std::collections::{BTreeMap, HashMap};

use neco_proto::event::TaskKind;
use serde_json::Value;

use super::definition::{FailsIf, Failure, Limits, TaskEntry, Work, WorkflowFile};
use super::error::WorkflowError;
use super::{checks, template};

/// A task by its place in the file.
pub type TaskIndex = usize;

/// A task of a workflow that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    pub name: String,
    pub work: Work,
    /// Whether it is to be done at all; an expression.
    pub when: Option<String>,
    /// What happens when it fails.
    pub on_failure: Failure,
    /// Whether a failure is an outcome like any other.
    pub accept_failure: bool,
    /// When it has failed although it was done.
    pub fails_if: Option<FailsIf>,
    /// Seconds that it may take.
    pub timeout: Option<f64>,
}

/// A workflow that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// How much runs at a time.
    pub limits: Limits,
    /// Seconds that all of it may take.
    pub timeout: Option<f64>,
    /// The values of its inputs.
    pub inputs: BTreeMap<String, Value>,
    tasks: Vec<Task>,
    needs: Vec<Vec<TaskIndex>>,
    needed_by: Vec<Vec<TaskIndex>>,
}

impl Graph {
    /// What a workflow means when it is started with `values`.
    /// The error is everything that is wrong with it, by the names of tasks.
    pub fn new(file: &WorkflowFile, values: &BTreeMap<String, Value>) -> Result<Self, WorkflowError> {
        let mut problems = checks::limits(&file.limits);
        problems.extend(checks::times(file));
        let names = checks::names(&file.tasks, &mut problems);
        let needs = checks::needs(&file.tasks, &names, &mut problems);
        let tasks = tasks(file, &mut problems);
        let inputs = checks::inputs(file, values, &mut problems);
        if !problems.is_empty() {
            // Whoever has to look again should see all of it.
            problems.extend(tasks.iter().filter_map(|task| template::reads(task).err()));
        }
        WorkflowError::none_of(problems)?;
        let mut needed_by = vec![Vec::new(); tasks.len()];
        for (index, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|need| {
                if let Some(list) = needed_by.get_mut(*need) {
                    list.push(index);
                }
            });
        }
        let (name, limits, timeout) = (file.name.clone(), file.limits, file.timeout);
        let graph = Self { name, limits, timeout, inputs, tasks, needs, needed_by };
        let order = graph.order()?;
        WorkflowError::none_of(template::check(&graph, &order))?;
        Ok(graph)
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none; there always are.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// A task.
    pub fn task(&self, task: TaskIndex) -> Option<&Task> {
        self.tasks.get(task)
    }

    pub(super) fn kind(&self, task: TaskIndex) -> Option<TaskKind> {
        self.task(task).map(|task| task.work.kind())
    }

    /// What a task waits for.
    pub fn needs(&self, task: TaskIndex) -> &[TaskIndex] {
        self.needs.get(task).map(Vec::as_slice).unwrap_or_default()
    }

    /// Who waits for a task.
    pub fn needed_by(&self, task: TaskIndex) -> &[TaskIndex] {
        self.needed_by.get(task).map(Vec::as_slice).unwrap_or_default()
    }

    /// The tasks in the order of the file.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter()
    }

    /// Every task after all that it needs.
    fn order(&self) -> Result<Vec<TaskIndex>, WorkflowError> {
        let mut waits: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut order: Vec<TaskIndex> = (0..self.tasks.len()).filter(|task| self.needs(*task).is_empty()).collect();
        let mut at = 0;
        while let Some(task) = order.get(at).copied() {
            at += 1;
            for next in self.needed_by(task) {
                if let Some(count) = waits.get_mut(*next) {
                    *count -= 1;
                    if *count == 0 {
                        order.push(*next);
                    }
                }
            }
        }
        if order.len() == self.tasks.len() { Ok(order) } else { Err(WorkflowError::Cycle(self.circle(&waits))) }
    }

    /// One circle among the tasks that still wait, by name, its first one again at its end.
    fn circle(&self, waits: &[usize]) -> Vec<String> {
        let stuck = |task: &TaskIndex| waits.get(*task).is_some_and(|count| *count > 0);
        let mut seen: HashMap<TaskIndex, usize> = HashMap::new();
        let mut path: Vec<TaskIndex> = Vec::new();
        let mut next = (0..self.tasks.len()).find(stuck);
        while let Some(task) = next {
            if let Some(start) = seen.insert(task, path.len()) {
                path.push(task);
                let circle = path.iter().skip(start).rev();
                return circle.filter_map(|task| self.task(*task)).map(|task| task.name.clone()).collect();
            }
            path.push(task);
            next = self.needs(task).iter().copied().find(stuck);
        }
        Vec::new()
    }
}

/// The tasks that can be understood.
fn tasks(file: &WorkflowFile, problems: &mut Vec<WorkflowError>) -> Vec<Task> {
    let read = |entry: &TaskEntry| task(entry, file.on_failure).map_err(|problem| problems.push(problem)).ok();
    file.tasks.iter().filter_map(read).collect()
}

fn task(entry: &TaskEntry, usual: Failure) -> Result<Task, WorkflowError> {
    Ok(Task {
        name: entry.id.clone(),
        work: entry.work()?,
        when: entry.when.clone(),
        on_failure: entry.on_failure.unwrap_or(usual),
        accept_failure: entry.accept_failure,
        fails_if: entry.fails_if.clone(),
        timeout: entry.timeout,
    })
}
