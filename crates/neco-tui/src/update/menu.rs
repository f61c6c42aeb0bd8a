//! What can be done to an agent or a workflow: a menu behind Ctrl-X, so that no bare letter pauses or ends anything.

use crossterm::event::KeyEvent;
use neco_proto::event::NodeState;
use neco_proto::{AgentId, AgentOrder, Command, WorkflowId, WorkflowOrder};

use super::effect::Effect;
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, Purpose, WindowState};

const HINT: &str = "↑↓ and Enter, or its letter · Esc goes back";

/// Whether an entry belongs to a menu.
pub(super) fn is_order(picked: &Picked) -> bool {
    matches!(picked, Picked::Order(..) | Picked::Write(_))
}

/// Whose menu an entry belongs to.
pub(super) fn owner(picked: &Picked) -> Option<Picked> {
    match picked {
        Picked::Write(agent) => Some(Picked::Agent(*agent)),
        Picked::Order(_, command) => match command.as_ref() {
            Command::AgentCommand { agent_id, .. } => Some(Picked::Agent(*agent_id)),
            Command::WorkflowCommand { workflow_id, .. } => Some(Picked::Workflow(*workflow_id)),
            _ => None,
        },
        _ => None,
    }
}

impl WindowState {
    /// The menu of the entry that is chosen in the list of agents and workflows.
    pub(super) fn menu_of_chosen(&mut self) -> Vec<Effect> {
        match self.chosen() {
            Some(Picked::Agent(agent)) => self.agent_menu(agent),
            Some(Picked::Workflow(workflow)) => self.workflow_menu(workflow),
            Some(_) | None => {}
        }
        Vec::new()
    }

    /// What can be done to an agent.
    pub(super) fn agent_menu(&mut self, agent: AgentId) {
        let Some(node) = self.agents.nodes().iter().find(|node| node.id == agent) else { return };
        let order = |letter: char, text: &str, about: &str, order: AgentOrder| {
            let picked = Picked::Order(letter, Box::new(Command::AgentCommand { agent_id: agent, order }));
            Entry::new(&format!("{letter} {text}"), about, picked)
        };
        let pauses = match node.state {
            NodeState::Created | NodeState::Running => {
                order('p', "pause it", "with those below it; all they did is kept", AgentOrder::Pause)
            }
            NodeState::Paused => order('r', "resume it", "it goes on where it was paused", AgentOrder::Resume),
            NodeState::Completed | NodeState::Failed | NodeState::Cancelled => {
                return self.tell("it has ended: there is nothing to pause or to end");
            }
        };
        let entries = vec![
            pauses,
            Entry::new("m write to it", "it reads it at its next turn", Picked::Write(agent)),
            order('x', "end it for good", "with those below it; whoever started it is told", AgentOrder::Cancel),
        ];
        self.picker = Some(Picker::new(node.name.clone(), HINT, Letters::Command, entries));
    }

    fn workflow_menu(&mut self, workflow_id: WorkflowId) {
        let order = |letter: char, text: &str, about: &str, order: WorkflowOrder| {
            let picked = Picked::Order(letter, Box::new(Command::WorkflowCommand { workflow_id, order }));
            Entry::new(&format!("{letter} {text}"), about, picked)
        };
        let entries = vec![
            order('r', "resume it", "what is completed stays so", WorkflowOrder::Resume),
            order('x', "end it for good", "with everything it started", WorkflowOrder::Cancel),
        ];
        self.picker = Some(Picker::new("workflow", HINT, Letters::Command, entries));
    }

    /// Back to where the menu was opened: the agent that is looked at, or the list.
    pub(super) fn leave_menu(&mut self, of: Option<Picked>) -> Vec<Effect> {
        self.picker = None;
        if self.watched.is_some() {
            return Vec::new();
        }
        let effects = self.panel();
        if let (Some(picker), Some(of)) = (&mut self.picker, of) {
            picker.choose(|picked| *picked == of);
        }
        effects
    }

    /// A letter in the list begins a message to the chosen agent; in a menu it chooses.
    pub(super) fn letter(&mut self, key: KeyEvent, letter: char) -> Vec<Effect> {
        let in_menu = self.picker.as_ref().is_some_and(|picker| picker.holds(is_order));
        match self.chosen() {
            _ if in_menu => self.choose(letter),
            Some(Picked::Agent(agent)) => {
                let looks = self.write_to(agent);
                looks.into_iter().chain(self.key(key)).collect()
            }
            Some(Picked::Workflow(_)) => {
                self.tell("Ctrl-X resumes or ends it");
                Vec::new()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Opens an agent, and the field is for it.
    pub(super) fn write_to(&mut self, agent: AgentId) -> Vec<Effect> {
        self.picker = None;
        let is_open = self.watched.as_ref().is_some_and(|watched| watched.agent == agent);
        let looks = if is_open { Vec::new() } else { self.watch(agent) };
        self.purpose = Purpose::Agent(agent);
        looks
    }

    fn choose(&mut self, letter: char) -> Vec<Effect> {
        let means = |picked: &Picked| match letter {
            'm' => matches!(picked, Picked::Write(_)),
            letter => matches!(picked, Picked::Order(key, _) if *key == letter),
        };
        let Some(picker) = self.picker.as_mut().filter(|picker| picker.holds(means)) else { return Vec::new() };
        picker.choose(means);
        self.picked()
    }

    fn chosen(&self) -> Option<Picked> {
        self.picker.as_ref().and_then(Picker::chosen).map(|entry| entry.picked.clone())
    }
}
