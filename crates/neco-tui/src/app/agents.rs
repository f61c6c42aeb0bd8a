//! The other agents of the session and its workflows, as far as a window shows them.

use std::collections::HashMap;

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeResult, NodeState, NodeType, WorkflowGraph, WorkflowState};
use neco_proto::{AgentId, Event, EventBody};
use neco_view::reduce::workflows;

use super::lanes::Lanes;

/// How deep agents are shown to nest.
const DEEPEST: usize = 8;

/// The tree of agents and the workflows.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    /// All of them, the root included, in the order they came.
    pub nodes: Vec<AgentNode>,
    /// What each of them does, in a few words.
    doing: HashMap<AgentId, String>,
    /// What each of them did over time.
    pub lanes: Lanes,
    /// Oldest first.
    pub workflows: Vec<WorkflowGraph>,
}

impl Agents {
    /// Takes in an event, whoever it happened to; says whether the list of agents looks different now.
    pub fn apply(&mut self, event: &Event) -> bool {
        let node = match &event.body {
            EventBody::AgentUpdate(update) => update.node.id,
            _ => event.agent_id,
        };
        let before = self.nodes.iter().find(|known| known.id == node).map(|known| known.state);
        self.lanes.apply(event, before);
        match &event.body {
            EventBody::AgentUpdate(update) => {
                self.nodes.retain(|node| !update.gone.contains(&node.id));
                self.doing.retain(|agent, _| !update.gone.contains(agent));
                self.lanes.forget(&update.gone);
                self.update(update.node.clone());
            }
            EventBody::WorkflowUpdate(update) => drop(workflows::update(&mut self.workflows, update)),
            EventBody::ToolCallUpdate(call) => drop(self.doing.insert(event.agent_id, does(&call.summary))),
            EventBody::TurnStart(_) => drop(self.doing.insert(event.agent_id, "thinks".to_owned())),
            EventBody::PermissionRequest(request) => {
                let name = self.name(event.agent_id).unwrap_or_default();
                let summary = request.summary.strip_prefix(&format!("{name}: ")).unwrap_or(&request.summary);
                self.doing.insert(event.agent_id, would(summary));
            }
            EventBody::Question(_) => drop(self.doing.insert(event.agent_id, "asks you something".to_owned())),
            EventBody::PermissionDecision(_) | EventBody::QuestionAnswer(_) => {}
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

    /// What an agent does now, or what became of it.
    pub fn doing(&self, node: &AgentNode) -> String {
        let said = || node.last_message.as_deref().map(clean_line);
        match node.state {
            NodeState::Created => "waits its turn".to_owned(),
            NodeState::Running => self.doing.get(&node.id).cloned().or_else(said).unwrap_or_default(),
            NodeState::Paused => "paused".to_owned(),
            NodeState::Completed => "done".to_owned(),
            NodeState::Failed => match &node.result {
                Some(NodeResult::Error { message, .. }) => clean_line(message),
                Some(NodeResult::Output { .. }) | None => said().unwrap_or_else(|| "failed".to_owned()),
            },
            NodeState::Cancelled => "stopped".to_owned(),
        }
    }

    /// Whether an agent waits for the person.
    pub fn asks(&self, node: &AgentNode) -> bool {
        node.state == NodeState::Running && self.lanes.asks_since(node.id).is_some()
    }

    /// What all of them but the root cost, as far as that is known.
    pub fn cost(&self) -> f64 {
        let others = self.nodes.iter().filter(|node| node.kind != NodeType::Root);
        others.filter_map(|node| node.usage.cost).sum()
    }

    /// Takes in agents as they were asked for; an event may have overtaken that.
    pub fn found(&mut self, nodes: Vec<AgentNode>) {
        for node in nodes {
            if !self.nodes.iter().any(|known| known.id == node.id && known.changed > node.changed) {
                self.update(node);
            }
        }
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

/// A call as what somebody does: `Run cargo test` is `runs cargo test`.
fn does(summary: &str) -> String {
    let summary = clean_line(summary);
    match verb(&summary) {
        Some((verb, rest)) => {
            let end = if verb.ends_with(['s', 'x', 'h']) { "es" } else { "s" };
            format!("{verb}{end}{rest}")
        }
        None => summary,
    }
}

/// A call as what somebody wants to do: `Run cargo test` is `would run cargo test`.
fn would(summary: &str) -> String {
    let summary = clean_line(summary);
    verb(&summary).map(|(verb, rest)| format!("would {verb}{rest}")).unwrap_or(summary)
}

/// The verb that a call's line begins with, in small letters, and what follows it.
fn verb(summary: &str) -> Option<(String, &str)> {
    let (verb, _) = summary.split_once(' ')?;
    let is_verb = verb.starts_with(|char: char| char.is_ascii_uppercase())
        && verb.chars().skip(1).all(|char| char.is_ascii_lowercase());
    is_verb.then(|| (verb.to_lowercase(), summary.get(verb.len()..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_as_what_somebody_does() {
        assert_eq!(does("Run cargo test"), "runs cargo test");
        assert_eq!(does("Search for x"), "searches for x");
        assert_eq!(does("MCP tool"), "MCP tool");
        assert_eq!(would("Edit src/a.rs (+1 −1)"), "would edit src/a.rs (+1 −1)");
    }
}
