//! Workflows in lines: how a task went on, and the graph as a tree.

use std::collections::HashMap;
use std::fmt::Write;

use neco_proto::WorkflowId;
use neco_proto::event::{TaskKind, TaskState, WorkflowGraph, WorkflowState, WorkflowTask};
use serde_json::Value;

use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::reduce::block::WorkflowStep;
use neco_proto::clean::clean_line;

/// Columns of what is said about a task.
const SAID: usize = 100;

/// What a step adds: the graph when it is new, and a line for each task that began or ended.
pub fn step(step: &WorkflowStep, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    if step.began {
        lines.push(paint.bold(&format!("workflow {} ({})", clean_line(&step.name), step.workflow_id)));
        lines.extend(tree_lines(&step.tasks, paint));
    }
    let moved = step.tasks.iter().filter(|task| step.moved.contains(&task.id));
    lines.extend(moved.filter_map(|task| line(task, paint)));
    match step.state {
        WorkflowState::Running => {}
        state => lines.push(end(&step.name, state, step.workflow_id, paint)),
    }
    lines
}

/// A task that began or ended, in one line; nothing for one that waits.
fn line(task: &WorkflowTask, paint: Paint) -> Option<String> {
    let name = clean_line(&task.id);
    let said = |words: &str| fitting(&clean_line(words), SAID);
    let why = || task.error.as_deref().map(|error| format!(": {}", said(error))).unwrap_or_default();
    let again = if task.attempts > 1 { format!(" (try {})", task.attempts) } else { String::new() };
    Some(match task.state {
        TaskState::Pending if task.attempts > 0 && task.error.is_some() => {
            paint.yellow(&format!("↻ {name} is tried again{}", why()))
        }
        TaskState::Pending | TaskState::Ready => return None,
        TaskState::Running => format!("{} {name}{again}", paint.cyan("▶")),
        TaskState::Completed if task.error.is_some() => {
            format!("{} {name} failed, as allowed{}", paint.yellow("✓"), why())
        }
        TaskState::Completed => format!("{} {name}{}", paint.green("✓"), paint.dim(&took(task))),
        TaskState::Failed => paint.red(&format!("✗ {name}{again}{}", why())),
        TaskState::Cancelled => paint.dim(&format!("- {name} cancelled")),
        TaskState::Skipped => paint.dim(&format!("- {name} skipped")),
    })
}

fn took(task: &WorkflowTask) -> String {
    if task.output.is_none() {
        return "  nothing to do".to_owned();
    }
    let (Some(began), Some(ended)) = (task.started, task.ended) else { return String::new() };
    let seconds = ended.duration_since(began).as_secs_f64();
    if seconds < 1.0 { String::new() } else { format!("  {seconds:.0} s") }
}

fn end(name: &str, state: WorkflowState, id: WorkflowId, paint: Paint) -> String {
    let name = clean_line(name);
    match state {
        WorkflowState::Completed => paint.green(&format!("workflow {name} is completed")),
        WorkflowState::Partly => paint.yellow(&format!("workflow {name} is partly done: some tasks failed")),
        WorkflowState::Failed => {
            paint.red(&format!("workflow {name} failed. Resume it with  neco workflow resume {id}"))
        }
        WorkflowState::Cancelled => paint.dim(&format!("workflow {name} is cancelled")),
        WorkflowState::Interrupted => {
            paint.yellow(&format!("workflow {name} was interrupted. Resume it with  neco workflow resume {id}"))
        }
        WorkflowState::Running => format!("workflow {name} runs"),
    }
}

/// A workflow as a tree: each task below the one that it waits for longest; what else it needs is said.
pub fn tree(graph: &WorkflowGraph, paint: Paint) -> String {
    let done = graph.tasks.iter().filter(|task| task.state == TaskState::Completed).count();
    let head = format!("{} · {} · {done} of {} done", clean_line(&graph.name), graph.state, graph.tasks.len());
    let mut text = format!("{}\n", paint.bold(&head));
    for line in tree_lines(&graph.tasks, paint) {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The lines of the tree of some tasks.
pub fn tree_lines(tasks: &[WorkflowTask], paint: Paint) -> Vec<String> {
    let places = places(tasks);
    let depths = depths(tasks);
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut tops = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        match above(task, &places, &depths).and_then(|parent| below.get_mut(parent)) {
            Some(children) => children.push(at),
            None => tops.push(at),
        }
    }
    let mut lines = Vec::new();
    // Each entry: the task, what stands before it, and whether it is the last of its parent's.
    let mut open: Vec<(usize, String, Option<bool>)> =
        tops.into_iter().rev().map(|at| (at, String::new(), None)).collect();
    while let Some((at, before, last)) = open.pop() {
        let Some(task) = tasks.get(at) else { continue };
        let (branch, after) = match last {
            None => ("", ""),
            Some(true) => ("└─", "  "),
            Some(false) => ("├─", "│ "),
        };
        let others: Vec<String> = task
            .needs
            .iter()
            .filter(|need| places.get(need.as_str()).copied() != above(task, &places, &depths))
            .map(|need| clean_line(need))
            .collect();
        let also = if others.is_empty() { String::new() } else { format!(" · after {}", others.join(", ")) };
        lines.push(format!("{}{}", paint.dim(&format!("{before}{branch}")), node(task, &also, paint)));
        let children = below.get(at).map(Vec::as_slice).unwrap_or_default();
        let count = children.len();
        for (index, child) in children.iter().enumerate().rev() {
            open.push((*child, format!("{before}{after}"), Some(index + 1 == count)));
        }
    }
    lines
}

fn node(task: &WorkflowTask, also: &str, paint: Paint) -> String {
    let mark = match task.state {
        TaskState::Pending | TaskState::Ready => paint.dim("○"),
        TaskState::Running => paint.cyan("▶"),
        TaskState::Completed => paint.green("✓"),
        TaskState::Failed => paint.red("✗"),
        TaskState::Cancelled | TaskState::Skipped => paint.dim("-"),
    };
    let kind = match task.kind {
        TaskKind::Agent => "agent",
        TaskKind::Tool => "tool",
        TaskKind::Command => "command",
    };
    let state = match task.state {
        TaskState::Completed if task.error.is_some() => " · failed, as allowed".to_owned(),
        TaskState::Pending | TaskState::Ready if task.error.is_some() => " · tried again".to_owned(),
        TaskState::Pending | TaskState::Ready | TaskState::Completed => String::new(),
        TaskState::Running | TaskState::Failed | TaskState::Cancelled | TaskState::Skipped => {
            format!(" · {}", task.state)
        }
    };
    let why = task.error.as_deref().map(|error| format!(": {}", fitting(&clean_line(error), SAID))).unwrap_or_default();
    let took = if task.state == TaskState::Completed { took(task) } else { String::new() };
    let took = if took.is_empty() { took } else { format!(" · {}", took.trim_start()) };
    let (kind, also) = (paint.dim(&format!(" · {kind}")), paint.dim(&format!("{took}{also}")));
    format!("{mark} {}{kind}{state}{why}{also}", clean_line(&task.id))
}

fn places(tasks: &[WorkflowTask]) -> HashMap<&str, usize> {
    tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect()
}

/// The task that another one waits for longest.
fn above(task: &WorkflowTask, places: &HashMap<&str, usize>, depths: &[usize]) -> Option<usize> {
    let needs = task.needs.iter().filter_map(|need| places.get(need.as_str()).copied());
    needs.max_by_key(|need| (depths.get(*need).copied().unwrap_or_default(), *need))
}

/// How many tasks stand before each on its longest way.
pub fn depths(tasks: &[WorkflowTask]) -> Vec<usize> {
    let places = places(tasks);
    let mut depths: Vec<Option<usize>> = vec![None; tasks.len()];
    for start in 0..tasks.len() {
        let mut open = vec![start];
        while let Some(at) = open.last().copied() {
            let needs = tasks.get(at).map(|task| task.needs.as_slice()).unwrap_or_default();
            let places: Vec<usize> = needs.iter().filter_map(|need| places.get(need.as_str()).copied()).collect();
            let missing =
                places.iter().copied().find(|need| matches!(depths.get(*need), Some(None)) && !open.contains(need));
            match missing {
                Some(missing) if depths.get(at) == Some(&None) => open.push(missing),
                Some(_) | None => {
                    let most = places.iter().filter_map(|need| *depths.get(*need)?).max();
                    if let Some(depth) = depths.get_mut(at) {
                        depth.get_or_insert(most.map_or(0, |most| most + 1));
                    }
                    open.pop();
                }
            }
        }
    }
    depths.into_iter().map(Option::unwrap_or_default).collect()
}

/// What came of the tasks that nobody waits for: the outcome of a workflow.
pub fn outcome(graph: &WorkflowGraph) -> String {
    let needed = |id: &str| graph.tasks.iter().any(|task| task.needs.iter().any(|need| need == id));
    // What was done and does not count is told all the same; an accepted failure gave nothing but its words.
    let counts = |task: &&WorkflowTask| task.error.is_none() || task.state == TaskState::Failed;
    let given = graph.tasks.iter().filter(|task| !needed(&task.id) && task.output.is_some());
    let last: Vec<&WorkflowTask> = given.filter(counts).collect();
    let mut text = String::new();
    for task in &last {
        if last.len() > 1 {
            let _ = writeln!(text, "{}:", clean_line(&task.id));
        }
        let _ = writeln!(text, "{}", task.output.as_ref().map(words).unwrap_or_default().trim_end());
    }
    text
}

/// An output in words.
pub fn words(output: &Value) -> String {
    match output {
        Value::String(text) => neco_proto::clean::clean(text),
        Value::Null => String::new(),
        other => format!("{other:#}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, needs: &[&str], state: TaskState) -> WorkflowTask {
        WorkflowTask {
            id: id.to_owned(),
            kind: TaskKind::Command,
            state,
            needs: needs.iter().map(ToString::to_string).collect(),
            agent_id: None,
            started: None,
            ended: None,
            attempts: 1,
            error: None,
            output: Some(Value::from("x")),
        }
    }

    #[test]
    fn a_graph_is_drawn_as_a_tree_below_what_each_waits_for_longest() {
        let tasks = [
            task("a", &[], TaskState::Completed),
            task("b", &["a"], TaskState::Running),
            task("c", &["a", "b"], TaskState::Pending),
            WorkflowTask { error: Some("no".to_owned()), ..task("d", &["a"], TaskState::Failed) },
            task("e", &["d", "b"], TaskState::Cancelled),
            task("f", &[], TaskState::Pending),
        ];
        assert_eq!(
            tree_lines(&tasks, Paint::new(false)),
            [
                "✓ a · command",
                "├─▶ b · command · running",
                "│ └─○ c · command · after a",
                "└─✗ d · command · failed: no",
                "  └─- e · command · cancelled · after b",
                "○ f · command"
            ]
        );
    }
}
