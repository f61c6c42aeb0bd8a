//! What the log says about workflows: how each stands, and enough to go on with it.

use std::collections::HashMap;

use neco_proto::event::{TaskState, WorkflowGraph, WorkflowState, WorkflowTask, WorkflowUpdate};
use neco_proto::{Actor, EventBody, SessionId, WorkflowId};
use neco_store::{EventLog, StoreError};
use serde_json::Value;

use super::error::WorkflowError;
use crate::fold::each_event;

/// A workflow as the log has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// How it stands, with all its tasks.
    pub graph: WorkflowGraph,
    /// All of it, as a file would have it.
    pub definition: Value,
}

/// The workflows of a session, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    all: Vec<Recorded>,
    /// Where each task of each is.
    places: Vec<HashMap<String, usize>>,
}

impl Board {
    /// What the log of a session says.
    pub async fn read(log: &dyn EventLog, session: SessionId) -> Result<Self, StoreError> {
        let mut board = Self::default();
        each_event(log, session, 0, |event| {
            if let EventBody::WorkflowUpdate(update) = event.body {
                board.apply(update);
            }
        })
        .await?;
        Ok(board)
    }

    /// Takes an update in.
    pub fn apply(&mut self, update: WorkflowUpdate) {
        let at = self.all.iter().position(|known| known.graph.workflow_id == update.workflow_id);
        let known = at.and_then(|at| Some((self.all.get_mut(at)?, self.places.get_mut(at)?)));
        match (known, update.definition) {
            (Some((known, places)), _) => {
                known.graph.state = update.state;
                update.tasks.into_iter().for_each(|task| put(&mut known.graph.tasks, places, task));
            }
            (None, Some(definition)) => {
                let places = update.tasks.iter().enumerate().map(|(at, task)| (task.id.clone(), at));
                self.places.push(places.collect());
                let graph = WorkflowGraph {
                    workflow_id: update.workflow_id,
                    name: update.name,
                    state: update.state,
                    strategy: update.strategy,
                    tasks: update.tasks,
                    inputs: update.inputs,
                };
                self.all.push(Recorded { graph, definition });
            }
            // Its beginning is not in this log: nothing could be drawn of it.
            (None, None) => {}
        }
    }

    pub fn find(&self, id: WorkflowId) -> Option<&Recorded> {
        self.all.iter().find(|known| known.graph.workflow_id == id)
    }

    /// All of them; one that runs according to the log and not according to `runs` was interrupted.
    pub fn graphs(&self, runs: impl Fn(WorkflowId) -> bool) -> Vec<WorkflowGraph> {
        let graph = |known: &Recorded| match known.graph.state {
            WorkflowState::Running if !runs(known.graph.workflow_id) => interrupted(&known.graph),
            _ => known.graph.clone(),
        };
        self.all.iter().map(graph).collect()
    }
}

/// The workflow after the process that ran it is gone: nothing of it runs any more.
pub fn interrupted(graph: &WorkflowGraph) -> WorkflowGraph {
    let mut graph = WorkflowGraph { state: WorkflowState::Interrupted, ..graph.clone() };
    for task in &mut graph.tasks {
        if matches!(task.state, TaskState::Running | TaskState::Ready) {
            task.state = TaskState::Pending;
        }
    }
    graph
}

fn put(tasks: &mut Vec<WorkflowTask>, places: &mut HashMap<String, usize>, task: WorkflowTask) {
    match places.get(&task.id).and_then(|at| tasks.get_mut(*at)) {
        Some(known) => *known = task,
        None => {
            places.insert(task.id.clone(), tasks.len());
            tasks.push(task);
        }
    }
}

/// What is told of a workflow that nothing runs of when somebody stops it for good.
pub fn cancelled(recorded: &Recorded, by: Actor) -> Result<WorkflowUpdate, WorkflowError> {
    let graph = &recorded.graph;
    match graph.state {
        WorkflowState::Running | WorkflowState::Interrupted => {}
        WorkflowState::Completed | WorkflowState::Partly | WorkflowState::Failed | WorkflowState::Cancelled => {
            return Err(WorkflowError::NotNow(format!(
                "workflow {} is over: it is {}",
                graph.workflow_id, graph.state
            )));
        }
    }
    let open = graph.tasks.iter().filter(|task| !task.state.is_final());
    Ok(WorkflowUpdate {
        workflow_id: graph.workflow_id,
        name: graph.name.clone(),
        state: WorkflowState::Cancelled,
        strategy: graph.strategy.clone(),
        tasks: open.map(|task| WorkflowTask { state: TaskState::Cancelled, ..task.clone() }).collect(),
        definition: None,
        inputs: None,
        by: Some(by),
    })
}
