//! What can be told of a workflow before it means anything: limits, times, names, dependencies and inputs.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::definition::{Failure, Limits, TaskEntry, WorkflowFile};
use super::error::WorkflowError;
use super::graph::TaskIndex;
use super::template;

/// Limits that let nothing run.
pub(super) fn limits(limits: &Limits) -> Vec<WorkflowError> {
    let all = [("parallel", limits.parallel), ("agents", limits.agents), ("commands", limits.commands)];
    all.iter().filter(|(_, limit)| *limit == 0).map(|(name, _)| WorkflowError::ZeroLimit(name)).collect()
}

/// Times that are none would let a task run for ever, or not at all.
pub(super) fn times(file: &WorkflowFile) -> Vec<WorkflowError> {
    let good = |seconds: Option<f64>| seconds.is_none_or(|seconds| seconds.is_finite() && seconds > 0.0);
    let backoff = |failure: Option<Failure>| match failure {
        Some(Failure::RetryThenContinue(retry)) => retry.backoff.is_finite() && retry.backoff >= 0.0,
        Some(Failure::FailFast | Failure::Continue) | None => true,
    };
    let mut problems = Vec::new();
    let mut look = |whose: &dyn Fn() -> String, timeout: Option<f64>, failure: Option<Failure>| {
        for (what, right) in [("the timeout", good(timeout)), ("the backoff", backoff(failure))] {
            if !right {
                problems.push(WorkflowError::BadTime { whose: whose(), what });
            }
        }
    };
    look(&|| "the workflow".to_owned(), file.timeout, Some(file.on_failure));
    file.tasks.iter().for_each(|task| look(&|| format!("task {}", task.id), task.timeout, task.on_failure));
    problems
}

/// The places of tasks by their names.
pub(super) fn names<'a>(entries: &'a [TaskEntry], problems: &mut Vec<WorkflowError>) -> HashMap<&'a str, TaskIndex> {
    if entries.is_empty() {
        problems.push(WorkflowError::Empty);
    }
    let mut names = HashMap::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        if !template::is_name(&entry.id) {
            problems.push(WorkflowError::BadName(entry.id.clone()));
        }
        if names.insert(entry.id.as_str(), index).is_some() {
            problems.push(WorkflowError::Twice(entry.id.clone()));
        }
    }
    names
}

/// What each task waits for.
pub(super) fn needs(
    entries: &[TaskEntry],
    names: &HashMap<&str, TaskIndex>,
    problems: &mut Vec<WorkflowError>,
) -> Vec<Vec<TaskIndex>> {
    let mut of = |entry: &TaskEntry| {
        let mut needs = Vec::with_capacity(entry.needs.len());
        for need in &entry.needs {
            match names.get(need.as_str()) {
                Some(index) => needs.push(*index),
                None => problems.push(WorkflowError::UnknownDependency {
                    task: entry.id.clone(),
                    missing: need.clone(),
                    similar: similar(need, names),
                }),
            }
        }
        needs.sort_unstable();
        needs.dedup();
        needs
    };
    entries.iter().map(&mut of).collect()
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

/// What the workflow is started with.
pub(super) fn inputs(
    file: &WorkflowFile,
    values: &BTreeMap<String, Value>,
    problems: &mut Vec<WorkflowError>,
) -> BTreeMap<String, Value> {
    let unknown = values.keys().filter(|name| !file.inputs.contains_key(*name));
    problems.extend(unknown.map(|name| WorkflowError::UnknownInput(name.clone())));
    let mut inputs = BTreeMap::new();
    for (name, input) in &file.inputs {
        match values.get(name).or(input.default.as_ref()) {
            Some(value) => drop(inputs.insert(name.clone(), value.clone())),
            None => problems.push(WorkflowError::NoValue(name.clone())),
        }
    }
    inputs
}
