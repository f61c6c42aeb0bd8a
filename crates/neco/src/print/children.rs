//! What is shown of agents below the root: a line when one begins, reports, asks and ends, indented by how deep
//! it is. What they do in between is theirs; the line that passes tells the last of it.

use std::collections::BTreeMap;

use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, Down, Letter, NodeState, Sender, Up};
use neco_proto::{AgentId, Event, EventBody, Role, agent_ask};

use super::clean::clean_line;
use super::paint::Paint;
use super::{figures, told};

/// What an agent is called that is a single call of a workflow.
const CALL: &str = "task";

/// The longest line of one, in characters.
const LONGEST: usize = 160;

/// What is known of agents below the root.
#[derive(Debug, Default)]
pub struct Children {
    root: Option<AgentId>,
    known: BTreeMap<AgentId, Known>,
    /// Whether a workflow runs, which tells itself of the calls that its tasks are.
    in_workflow: bool,
}

#[derive(Debug)]
struct Known {
    name: String,
    depth: usize,
    state: NodeState,
    /// What it does or said last.
    last: String,
}

impl Children {
    /// The root, for whoever has not seen its beginning.
    pub fn set_root(&mut self, root: AgentId) {
        self.root = Some(root);
    }

    /// The lines that an event of an agent below the root, or about one, becomes; nothing when it is the root's own.
    pub fn event(&mut self, event: &Event, paint: Paint) -> Option<Vec<String>> {
        match &event.body {
            EventBody::SessionStart(_) => {
                self.root = Some(event.agent_id);
                None
            }
            EventBody::AgentUpdate(update) => Some(self.update(update, paint)),
            EventBody::AgentMessage(message) => Some(self.letter(message, paint).into_iter().collect()),
            EventBody::Stop(stop) => {
                Some(agent_ask::stopped(stop).map(|words| paint.yellow(&format!("‖ {words}"))).into_iter().collect())
            }
            EventBody::WorkflowUpdate(_) => {
                self.in_workflow = true;
                None
            }
            // Whoever is asked sees it, whoever asks.
            EventBody::PermissionRequest(_) | EventBody::Question(_) => None,
            // So does whoever is to know what acts later, whoever changed it.
            EventBody::Notification(told) if told.changed.is_some() => None,
            _ if self.root.is_none_or(|root| root == event.agent_id) => None,
            body => {
                self.noted(event.agent_id, body);
                Some(Vec::new())
            }
        }
    }

    /// What those who work do, in one line; nothing when nobody works.
    #[must_use]
    pub fn at_work(&self) -> Option<String> {
        let works = |known: &&Known| matches!(known.state, NodeState::Created | NodeState::Running);
        let mut working = self.known.values().filter(works);
        let first = working.next()?;
        let more = match working.count() {
            0 => String::new(),
            more => format!(" (+{more} more)"),
        };
        let last = if first.last.is_empty() { String::new() } else { format!(": {}", first.last) };
        Some(shortened(&format!("⊕ {}{more}{last}", first.name)))
    }

    fn noted(&mut self, agent: AgentId, body: &EventBody) {
        let Some(known) = self.known.get_mut(&agent) else { return };
        match body {
            EventBody::ToolCallUpdate(update) => known.last = clean_line(&update.summary),
            EventBody::Message(message) if message.role == Role::Assistant && !message.text().trim().is_empty() => {
                known.last = clean_line(&message.text());
            }
            // The rest is its own.
            _ => {}
        }
    }

    fn update(&mut self, AgentUpdate { node, gone, setup }: &AgentUpdate, paint: Paint) -> Vec<String> {
        let parent = node.parent.and_then(|parent| self.known.get(&parent));
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let before = self.known.get(&node.id).map(|known| known.state);
        let last = self.known.remove(&node.id).map(|known| known.last).unwrap_or_default();
        let known = Known { name: clean_line(&node.name), depth, state: node.state, last };
        self.known.insert(node.id, known);
        gone.iter().for_each(|agent| drop(self.known.remove(agent)));
        if self.in_workflow && node.role == CALL {
            return Vec::new();
        }
        let new = setup.is_some() || before.is_none();
        let line = match node.state {
            NodeState::Created | NodeState::Running if new => {
                paint.cyan(&format!("⊕ {} · {}", clean_line(&node.name), shortened(&clean_line(&node.task))))
            }
            NodeState::Running if before == Some(NodeState::Paused) => {
                paint.dim(&format!("⊕ {} goes on", clean_line(&node.name)))
            }
            NodeState::Created | NodeState::Running => return Vec::new(),
            NodeState::Paused if before == Some(NodeState::Paused) => return Vec::new(),
            NodeState::Paused => paint.yellow(&format!("‖ {} is paused", clean_line(&node.name))),
            NodeState::Completed => paint.green(&ended("✓", node)),
            NodeState::Failed => paint.red(&ended("✗", node)),
            NodeState::Cancelled => paint.dim(&ended("–", node)),
        };
        vec![format!("{}{line}", "  ".repeat(depth))]
    }

    /// Ends are told by the agent itself.
    fn letter(&self, AgentMessage { from, to, letter, .. }: &AgentMessage, paint: Paint) -> Option<String> {
        let of = |agent: &AgentId| self.known.get(agent);
        let from = match from {
            Sender::Agent { id } => of(id),
            Sender::Person => None,
        };
        let (who, line) = match letter {
            Letter::Up(Up::Report { progress, message }) => {
                let who = from?;
                let line = format!("· {} {:.0} %: {}", who.name, progress * 100.0, shortened(&clean_line(message)));
                (who, paint.dim(&line))
            }
            Letter::Up(Up::Question { text }) => {
                let who = from?;
                (who, paint.yellow(&format!("? {}: {}", who.name, shortened(&clean_line(text)))))
            }
            Letter::Up(Up::Stopped { why }) => {
                let who = from.filter(|who| who.state == NodeState::Running)?;
                (who, paint.yellow(&format!("! {}: {}", who.name, shortened(&clean_line(why)))))
            }
            Letter::Up(Up::Ended { .. }) => return None,
            Letter::Down(Down::Task { text } | Down::Redirect { text } | Down::Answer { text }) => {
                let who = of(to)?;
                (who, paint.dim(&format!("› {}: {}", who.name, shortened(&clean_line(text)))))
            }
        };
        Some(format!("{}{line}", "  ".repeat(who.depth)))
    }
}

fn ended(mark: &str, node: &AgentNode) -> String {
    let result = node.result.as_ref().map(told::result).unwrap_or_else(|| "stopped".to_owned());
    let first = clean_line(result.trim().lines().next().unwrap_or_default());
    let mut parts = vec![format!("{mark} {}", clean_line(&node.name)), shortened(&first)];
    parts.extend(figures::usage(&node.subtree_usage));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
