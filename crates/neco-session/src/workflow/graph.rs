//! What a workflow means: tasks by index, what each waits for and who waits for it.

use std::collections::{BTreeMap, HashMap};

use neco_proto::event::TaskState;
use serde_json::Value;

use super::definition::{FailsIf, Failure, Limits, TaskEntry, Work, WorkflowFile};
use super::error::WorkflowError;
use super::state::States;
use super::template;

/// A task by its place in the file.
pub type TaskIndex = usize;

/// What a task takes room of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// An agent.
    Agent,
    /// A command.
    Command,
    /// A call of a tool, which only counts among all tasks.
    Tool,
}

/// A task of a workflow that can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// What it does.
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

impl Task {
    /// What it takes room of.
    #[must_use]
    pub fn class(&self) -> Class {
        match self.work {
            Work::Agent { .. } => Class::Agent,
            Work::Command { .. } => Class::Command,
            Work::Tool { .. } => Class::Tool,
        }
    }
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
    ///
    /// # Errors
    /// The first thing that is wrong with it, by the names of tasks.
    pub fn new(file: &WorkflowFile, values: &BTreeMap<String, Value>) -> Result<Self, WorkflowError> {
        check_limits(&file.limits)?;
        check_times(file)?;
        let names = names(&file.tasks)?;
        let needs = needs(&file.tasks, &names)?;
        let tasks = file.tasks.iter().map(|entry| task(entry, file.on_failure)).collect::<Result<Vec<_>, _>>()?;
        let mut needed_by = vec![Vec::new(); tasks.len()];
        for (index, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|need| {
                if let Some(list) = needed_by.get_mut(*need) {
                    list.push(index);
                }
            });
        }
        let inputs = inputs(file, values)?;
        let (name, limits, timeout) = (file.name.clone(), file.limits, file.timeout);
        let graph = Self { name, limits, timeout, inputs, tasks, needs, needed_by };
        let order = graph.order()?;
        template::check(&graph, &order)?;
        Ok(graph)
    }

    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none; there always are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// A task.
    #[must_use]
    pub fn task(&self, task: TaskIndex) -> Option<&Task> {
        self.tasks.get(task)
    }

    /// What a task waits for.
    #[must_use]
    pub fn needs(&self, task: TaskIndex) -> &[TaskIndex] {
        self.needs.get(task).map(Vec::as_slice).unwrap_or_default()
    }

    /// Who waits for a task.
    #[must_use]
    pub fn needed_by(&self, task: TaskIndex) -> &[TaskIndex] {
        self.needed_by.get(task).map(Vec::as_slice).unwrap_or_default()
    }

    /// The tasks in the order of the file.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter()
    }

    /// Checks the agents and tools that tasks name. What is wrong with a name is said by whoever knows them.
    ///
    /// # Errors
    /// The first name that does not exist, with its task.
    pub fn check_names(
        &self,
        agent: impl Fn(&str) -> Result<(), String>,
        tool: impl Fn(&str) -> Result<(), String>,
    ) -> Result<(), WorkflowError> {
        for task in &self.tasks {
            let checked = match &task.work {
                Work::Agent { role, .. } => agent(role),
                Work::Tool { name, .. } => tool(name),
                Work::Command { .. } => Ok(()),
            };
            checked.map_err(|words| WorkflowError::UnknownName { task: task.name.clone(), words })?;
        }
        Ok(())
    }

    /// The tasks that may begin now, in the order of the file: all that they need is completed, and they
    /// have not begun. Follows from the states alone; [`super::Schedule`] keeps the same up to date in
    /// constant time a task.
    #[must_use]
    pub fn next(&self, states: &States) -> Vec<TaskIndex> {
        let is = |task: TaskIndex, state| states.get(task).is_some_and(|own| *own == state);
        let begins = |task: &TaskIndex| {
            let waits = is(*task, TaskState::Pending) || is(*task, TaskState::Ready);
            waits && self.needs(*task).iter().all(|need| is(*need, TaskState::Completed))
        };
        (0..self.tasks.len()).filter(begins).collect()
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

fn check_limits(limits: &Limits) -> Result<(), WorkflowError> {
    let all = [("parallel", limits.parallel), ("agents", limits.agents), ("commands", limits.commands)];
    all.iter().find(|(_, limit)| *limit == 0).map_or(Ok(()), |(name, _)| Err(WorkflowError::ZeroLimit(name)))
}

/// Times that are none would let a task run for ever, or not at all.
fn check_times(file: &WorkflowFile) -> Result<(), WorkflowError> {
    let good = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    let bad = |whose: &str, what: &'static str| Err(WorkflowError::BadTime { whose: whose.to_owned(), what });
    let backoff = |failure: Option<Failure>| match failure {
        Some(Failure::RetryThenContinue(retry)) => retry.backoff.is_finite() && retry.backoff >= 0.0,
        Some(Failure::FailFast | Failure::Continue) | None => true,
    };
    if !file.timeout.is_none_or(good) {
        return bad("the workflow", "the timeout");
    }
    if !backoff(Some(file.on_failure)) {
        return bad("the workflow", "the backoff");
    }
    for task in &file.tasks {
        if !task.timeout.is_none_or(good) {
            return bad(&format!("task {}", task.id), "the timeout");
        }
        if !backoff(task.on_failure) {
            return bad(&format!("task {}", task.id), "the backoff");
        }
    }
    Ok(())
}

fn names(entries: &[TaskEntry]) -> Result<HashMap<&str, TaskIndex>, WorkflowError> {
    if entries.is_empty() {
        return Err(WorkflowError::Empty);
    }
    let mut names = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if !template::is_name(&entry.id) {
            return Err(WorkflowError::BadName(entry.id.clone()));
        }
        if names.insert(entry.id.as_str(), index).is_some() {
            return Err(WorkflowError::Twice(entry.id.clone()));
        }
    }
    Ok(names)
}

fn needs(entries: &[TaskEntry], names: &HashMap<&str, TaskIndex>) -> Result<Vec<Vec<TaskIndex>>, WorkflowError> {
    let need = |entry: &TaskEntry, need: &String| {
        names.get(need.as_str()).copied().ok_or_else(|| WorkflowError::UnknownDependency {
            task: entry.id.clone(),
            missing: need.clone(),
            similar: similar(need, names),
        })
    };
    let of = |entry: &TaskEntry| {
        let mut needs = entry.needs.iter().map(|name| need(entry, name)).collect::<Result<Vec<_>, _>>()?;
        needs.sort_unstable();
        needs.dedup();
        Ok(needs)
    };
    entries.iter().map(of).collect()
}

/// A name that differs in case, or that goes on where the other ends.
fn similar(name: &str, names: &HashMap<&str, TaskIndex>) -> Option<String> {
    let wanted = name.to_lowercase();
    let goes_on = |long: &str, short: &str| short.len() > 2 && long.starts_with(short);
    let near = |known: &&&str| {
        let known = known.to_lowercase();
        goes_on(&known, &wanted) || goes_on(&wanted, &known)
    };
    let same = names.keys().find(|known| known.to_lowercase() == wanted);
    same.or_else(|| names.keys().filter(near).min()).map(|name| (*name).to_owned())
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

fn inputs(file: &WorkflowFile, values: &BTreeMap<String, Value>) -> Result<BTreeMap<String, Value>, WorkflowError> {
    if let Some(unknown) = values.keys().find(|name| !file.inputs.contains_key(*name)) {
        return Err(WorkflowError::UnknownInput(unknown.clone()));
    }
    let value = |(name, input): (&String, &super::definition::Input)| {
        let value = values.get(name).or(input.default.as_ref()).cloned();
        value.map(|value| (name.clone(), value)).ok_or_else(|| WorkflowError::NoValue(name.clone()))
    };
    file.inputs.iter().map(value).collect()
}
