//! The workflows of a session, task by task.

use neco_proto::event::{WorkflowGraph, WorkflowState, WorkflowTask, WorkflowUpdate};

use super::block::WorkflowStep;

/// Takes an update into the workflows that are known: what is to be seen of it, which is the whole graph when it is
/// new and then each task that stands otherwise.
pub fn update(known: &mut Vec<WorkflowGraph>, update: &WorkflowUpdate) -> Option<WorkflowStep> {
    let at = known.iter().position(|graph| graph.workflow_id == update.workflow_id).unwrap_or(known.len());
    if at == known.len() {
        known.push(graph(update));
    }
    let graph = known.get_mut(at)?;
    let ended = graph.state == WorkflowState::Running && update.state != WorkflowState::Running;
    graph.state = update.state;
    let mut moved = Vec::new();
    for task in &update.tasks {
        if take(&mut graph.tasks, task) {
            moved.push(task.id.clone());
        }
    }
    let began = update.definition.is_some();
    let nothing = !began && moved.is_empty() && update.state == WorkflowState::Running;
    (!nothing).then(|| WorkflowStep {
        workflow_id: update.workflow_id,
        name: update.name.clone(),
        state: update.state,
        began,
        tasks: update.tasks.clone(),
        moved,
        ended,
    })
}

/// The last workflow that runs, or could go on.
pub fn running(known: &[WorkflowGraph]) -> Option<&WorkflowGraph> {
    known.iter().rfind(|graph| matches!(graph.state, WorkflowState::Running | WorkflowState::Interrupted))
}

fn graph(update: &WorkflowUpdate) -> WorkflowGraph {
    WorkflowGraph {
        workflow_id: update.workflow_id,
        name: update.name.clone(),
        state: update.state,
        strategy: update.strategy.clone(),
        tasks: Vec::new(),
        inputs: update.inputs.clone(),
    }
}

/// Whether a task is new, stands otherwise or is tried again.
fn take(tasks: &mut Vec<WorkflowTask>, task: &WorkflowTask) -> bool {
    match tasks.iter_mut().find(|known| known.id == task.id) {
        Some(known) => {
            let moved = (known.state, known.attempts) != (task.state, task.attempts);
            known.clone_from(task);
            moved
        }
        None => {
            tasks.push(task.clone());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::WorkflowId;
    use neco_proto::event::{TaskKind, TaskState};

    use super::*;

    #[test]
    fn a_task_is_told_once_for_each_state() {
        let id = WorkflowId::new();
        let task = |state| WorkflowTask {
            id: "a".to_owned(),
            kind: TaskKind::Command,
            state,
            needs: Vec::new(),
            agent_id: None,
            started: None,
            ended: None,
            attempts: 1,
            error: None,
            output: None,
        };
        let mut known = Vec::new();
        let mut moved = |state| {
            let told = WorkflowUpdate {
                workflow_id: id,
                name: "x".to_owned(),
                state: WorkflowState::Running,
                strategy: "continue".to_owned(),
                tasks: vec![task(state)],
                definition: None,
                inputs: None,
                by: None,
            };
            update(&mut known, &told).map(|step| step.moved)
        };
        assert_eq!(moved(TaskState::Running), Some(vec!["a".to_owned()]));
        assert_eq!(moved(TaskState::Running), None);
        assert_eq!(moved(TaskState::Completed), Some(vec!["a".to_owned()]));
    }
}
