//! The other agents of the session and its workflows, as far as a window shows them.

use std::collections::HashMap;

use neco_proto::clean::clean_line;
use neco_proto::event::{
    AgentNode, NodeResult, NodeState, NodeType, TaskKind, TaskState, WorkflowGraph, WorkflowState, WorkflowTask,
    WorkflowUpdate,
};
use neco_proto::{AgentId, Event, EventBody};
use neco_view::reduce::workflows;

use crate::text::figures;
use crate::transcript::block::Tone;

/// How deep agents are shown to nest.
const DEEPEST: usize = 8;

/// Characters of what an agent had to say when it ended.
const LONGEST: usize = 300;

/// The tree of agents and the workflows.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// In the order they came.
    nodes: Vec<AgentNode>,
    /// What each of them does, in a few words.
    doing: HashMap<AgentId, String>,
    workflows: Vec<WorkflowGraph>,
}

impl Agents {
    /// Takes in an event, whoever it happened to.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::AgentUpdate(update) => {
                self.nodes.retain(|node| !update.gone.contains(&node.id));
                self.update(update.node.clone());
            }
            EventBody::WorkflowUpdate(update) => drop(workflows::update(&mut self.workflows, update)),
            EventBody::ToolCallUpdate(call) => drop(self.doing.insert(event.agent_id, clean_line(&call.summary))),
            EventBody::TurnStart(_) => drop(self.doing.insert(event.agent_id, "thinks".to_owned())),
            EventBody::PermissionRequest(request) => {
                let waits = format!("waits for you: {}", clean_line(&request.summary));
                self.doing.insert(event.agent_id, waits);
            }
            EventBody::AgentComplete(_) => drop(self.doing.remove(&event.agent_id)),
            _ => {}
        }
    }

    /// Whether the list of agents looks different after an event.
    #[must_use]
    pub fn changes_with(event: &Event) -> bool {
        matches!(
            event.body,
            EventBody::AgentUpdate(_)
                | EventBody::WorkflowUpdate(_)
                | EventBody::ToolCallUpdate(_)
                | EventBody::TurnStart(_)
                | EventBody::PermissionRequest(_)
                | EventBody::AgentComplete(_)
        )
    }

    /// What is to be told of an event before it is taken in: that an agent or a workflow ended, and how.
    #[must_use]
    pub fn ended(&self, event: &Event) -> Vec<(Tone, String)> {
        match &event.body {
            EventBody::AgentUpdate(update) => {
                let node = &update.node;
                let was_live = self.nodes.iter().any(|known| known.id == node.id && known.state.is_live());
                let ended = was_live && !node.state.is_live() && !self.is_no_agent(node.id);
                ended.then(|| agent_ended(node)).into_iter().collect()
            }
            EventBody::WorkflowUpdate(update) => {
                let same = |graph: &&WorkflowGraph| graph.workflow_id == update.workflow_id;
                match self.workflows.iter().find(same).filter(|known| known.state == WorkflowState::Running) {
                    Some(known) => tasks_ended(update, &known.tasks)
                        .into_iter()
                        .chain(workflow_ended(update, &known.tasks))
                        .collect(),
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Whether what is in the tree there is a command or a call of a workflow: how that ended, the workflow says.
    fn is_no_agent(&self, node: AgentId) -> bool {
        let tasks = self.workflows.iter().flat_map(|graph| &graph.tasks);
        tasks.filter(|task| task.kind != TaskKind::Agent).any(|task| task.agent_id == Some(node))
    }

    /// The tree as the session has it.
    pub fn set_nodes(&mut self, nodes: Vec<AgentNode>) {
        self.nodes = nodes;
    }

    /// The workflows as the session has them.
    pub fn set_workflows(&mut self, workflows: Vec<WorkflowGraph>) {
        self.workflows = workflows;
    }

    /// Agents besides the root that may still do something.
    #[must_use]
    pub fn live(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind != NodeType::Root && node.state.is_live()).count()
    }

    /// Agents besides the root that work now, or wait for somebody.
    pub fn working(&self) -> impl Iterator<Item = &AgentNode> {
        let works = |node: &&AgentNode| matches!(node.state, NodeState::Created | NodeState::Running);
        self.nodes.iter().filter(|node| node.kind != NodeType::Root).filter(works)
    }

    /// Whether an agent may still do something.
    #[must_use]
    pub fn is_live(&self, agent: AgentId) -> bool {
        self.nodes.iter().any(|node| node.id == agent && node.state.is_live())
    }

    /// All of them, the root included.
    #[must_use]
    pub fn nodes(&self) -> &[AgentNode] {
        &self.nodes
    }

    /// Whether there is anything to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.workflows.is_empty() && !self.nodes.iter().any(|node| node.kind != NodeType::Root)
    }

    /// The agents besides the root, parents before their children, with how deep each one is.
    #[must_use]
    pub fn outline(&self) -> Vec<(usize, &AgentNode)> {
        let known = |id: &AgentId| self.nodes.iter().any(|node| node.id == *id && node.kind != NodeType::Root);
        let mut lines = Vec::new();
        for node in self.nodes.iter().filter(|node| node.kind != NodeType::Root) {
            if !node.parent.as_ref().is_some_and(known) {
                self.below(node, 0, &mut lines);
            }
        }
        lines
    }

    fn below<'a>(&'a self, node: &'a AgentNode, depth: usize, lines: &mut Vec<(usize, &'a AgentNode)>) {
        lines.push((depth, node));
        if depth == DEEPEST {
            return;
        }
        for child in self.nodes.iter().filter(|child| child.parent == Some(node.id)) {
            self.below(child, depth + 1, lines);
        }
    }

    /// What an agent is called.
    #[must_use]
    pub fn name(&self, agent: AgentId) -> Option<String> {
        let node = self.nodes.iter().find(|node| node.id == agent)?;
        Some(clean_line(&node.name))
    }

    /// What an agent does now, or what it said last.
    #[must_use]
    pub fn doing(&self, node: &AgentNode) -> String {
        let said = || node.last_message.as_deref().map(clean_line);
        if node.state.is_live() { self.doing.get(&node.id).cloned().or_else(said) } else { said() }.unwrap_or_default()
    }

    /// The workflows, oldest first.
    #[must_use]
    pub fn workflows(&self) -> &[WorkflowGraph] {
        &self.workflows
    }

    /// The workflow that runs, or could go on.
    #[must_use]
    pub fn running_workflow(&self) -> Option<&WorkflowGraph> {
        let runs = |graph: &&WorkflowGraph| matches!(graph.state, WorkflowState::Running | WorkflowState::Interrupted);
        self.workflows.iter().rev().find(runs)
    }

    fn update(&mut self, node: AgentNode) {
        match self.nodes.iter_mut().find(|known| known.id == node.id) {
            Some(known) => *known = node,
            None => self.nodes.push(node),
        }
    }
}

fn agent_ended(node: &AgentNode) -> (Tone, String) {
    let name = clean_line(&node.name);
    let used = node.subtree_usage.input + node.subtree_usage.output;
    let used = (used > 0).then(|| format!("{} tokens", figures::tokens(used)));
    let cost = node.subtree_usage.cost.filter(|cost| *cost > 0.0).map(figures::cost);
    let spent = used.into_iter().chain(cost).collect::<Vec<_>>().join(", ");
    let spent = if spent.is_empty() { spent } else { format!(" ({spent})") };
    let said = match &node.result {
        Some(NodeResult::Error { message, .. }) => Some(clean_line(message)),
        Some(NodeResult::Output { output }) => output.as_str().map(clean_line).or_else(|| said(node)),
        None => said(node),
    };
    let said = said.filter(|said| !said.is_empty()).map(|said| format!(": {said}")).unwrap_or_default();
    let tone = match node.state {
        NodeState::Completed => Tone::Good,
        NodeState::Failed => Tone::Bad,
        NodeState::Created | NodeState::Running | NodeState::Paused | NodeState::Cancelled => Tone::Plain,
    };
    let text = format!("{name} {}{spent}{said}", node.state);
    (tone, text.chars().take(LONGEST).collect())
}

fn said(node: &AgentNode) -> Option<String> {
    node.last_message.as_deref().map(clean_line)
}

/// How commands and calls of a workflow ended that goes on.
fn tasks_ended(update: &WorkflowUpdate, known: &[WorkflowTask]) -> Vec<(Tone, String)> {
    let was_over = |task: &WorkflowTask| known.iter().any(|known| known.id == task.id && known.state.is_final());
    let told = |task: &WorkflowTask| match task.state {
        TaskState::Completed if task.kind != TaskKind::Agent => {
            Some((Tone::Good, format!("{} of {} completed", clean_line(&task.id), clean_line(&update.name))))
        }
        // The end of the workflow names what ended it.
        TaskState::Failed if update.state == WorkflowState::Running => {
            let why = task.error.as_deref().map(|error| format!(": {}", clean_line(error))).unwrap_or_default();
            let text = format!("{} of {} failed{why}", clean_line(&task.id), clean_line(&update.name));
            Some((Tone::Bad, text.chars().take(LONGEST).collect()))
        }
        TaskState::Completed
        | TaskState::Failed
        | TaskState::Pending
        | TaskState::Ready
        | TaskState::Running
        | TaskState::Cancelled
        | TaskState::Skipped => None,
    };
    update.tasks.iter().filter(|task| !was_over(task)).filter_map(told).collect()
}

/// How a workflow ended; one that failed with what failed in it, and where all of it is told.
fn workflow_ended(update: &WorkflowUpdate, known: &[WorkflowTask]) -> Option<(Tone, String)> {
    let tone = match update.state {
        WorkflowState::Running => return None,
        WorkflowState::Completed => Tone::Good,
        WorkflowState::Failed => Tone::Bad,
        WorkflowState::Partly | WorkflowState::Interrupted => Tone::Warning,
        WorkflowState::Cancelled => Tone::Plain,
    };
    let failed = |task: &&WorkflowTask| task.state == TaskState::Failed;
    let failed = update.tasks.iter().chain(known).find(failed).map(|task| {
        let why = task.error.as_deref().map(|error| format!(": {}", clean_line(error))).unwrap_or_default();
        let why: String = why.chars().take(LONGEST).collect();
        format!(" at {}{why} · /workflow show {} tells all", clean_line(&task.id), update.workflow_id)
    });
    Some((tone, format!("workflow {} {}{}", clean_line(&update.name), update.state, failed.unwrap_or_default())))
}
