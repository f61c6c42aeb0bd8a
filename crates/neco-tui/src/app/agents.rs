//! The other agents of the session and its workflows, as far as a window shows them.

use std::collections::HashMap;

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState, NodeType, WorkflowGraph, WorkflowState};
use neco_proto::{AgentId, Event, EventBody};
use neco_view::reduce::workflows;

/// How deep agents are shown to nest.
const DEEPEST: usize = 8;

/// The tree of agents and the workflows.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// All of them, the root included, in the order they came.
    pub nodes: Vec<AgentNode>,
    /// What each of them does, in a few words.
    doing: HashMap<AgentId, String>,
    /// Oldest first.
    pub workflows: Vec<WorkflowGraph>,
}

impl Agents {
    /// Takes in an event, whoever it happened to; says whether the list of agents looks different now.
    pub fn apply(&mut self, event: &Event) -> bool {
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
            _ => return false,
        }
        true
    }

    /// Agents besides the root that may still do something.
    pub fn live(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind != NodeType::Root && node.state.is_live()).count()
    }

    /// Agents besides the root that work now, or wait for somebody.
    pub fn working(&self) -> impl Iterator<Item = &AgentNode> {
        let works = |node: &&AgentNode| matches!(node.state, NodeState::Created | NodeState::Running);
        self.nodes.iter().filter(|node| node.kind != NodeType::Root).filter(works)
    }

    /// Whether an agent may still do something.
    pub fn is_live(&self, agent: AgentId) -> bool {
        self.nodes.iter().any(|node| node.id == agent && node.state.is_live())
    }

    /// Whether there is anything to show.
    pub fn is_empty(&self) -> bool {
        self.workflows.is_empty() && !self.nodes.iter().any(|node| node.kind != NodeType::Root)
    }

    /// The agents besides the root, parents before their children, with how deep each one is.
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
    pub fn name(&self, agent: AgentId) -> Option<String> {
        let node = self.nodes.iter().find(|node| node.id == agent)?;
        Some(clean_line(&node.name))
    }

    /// What an agent does now, or what it said last.
    pub fn doing(&self, node: &AgentNode) -> String {
        let said = || node.last_message.as_deref().map(clean_line);
        if node.state.is_live() { self.doing.get(&node.id).cloned().or_else(said) } else { said() }.unwrap_or_default()
    }

    /// The workflow that runs, or could go on.
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
