//! Who edited which file, and because of which message, as far as calls say so: commands don't.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use neco_proto::event::CallStatus;
use neco_proto::{AgentId, Display, Event, EventBody, Role, Seq};

/// The edits of a log.
#[derive(Clone, Debug, Default)]
pub struct Editors {
    /// The first one to be heard of is the root.
    root: Option<AgentId>,
    names: HashMap<AgentId, String>,
    /// What the person said last.
    said: Option<Seq>,
    files: BTreeMap<String, Edits>,
}

/// The edits of one file.
#[derive(Clone, Debug, Default)]
struct Edits {
    agents: BTreeSet<AgentId>,
    /// The messages of the person that led to them.
    said: BTreeSet<Seq>,
}

impl Editors {
    /// Takes note of the next event.
    pub(super) fn note(&mut self, event: &Event) {
        let root = *self.root.get_or_insert(event.agent_id);
        match &event.body {
            EventBody::Message(message) => {
                let is_said = event.agent_id == root && message.role == Role::User && !message.is_neco();
                self.said = if is_said { Some(event.seq) } else { self.said };
            }
            EventBody::AgentUpdate(update) => drop(self.names.insert(update.node.id, update.node.name.clone())),
            EventBody::ToolCallEnd(end) if end.status == CallStatus::Success => {
                let Some(Display::Diff { files }) = &end.display else { return };
                for file in files {
                    let edits = self.files.entry(file.path.clone()).or_default();
                    edits.agents.insert(event.agent_id);
                    edits.said.extend(self.said);
                }
            }
            // Nothing else says that a file was edited, or by whom.
            _ => {}
        }
    }

    /// The names of those that edited a file, the root first.
    #[must_use]
    pub fn agents(&self, path: &str) -> Vec<String> {
        let agents = self.files.get(path).into_iter().flat_map(|edits| &edits.agents);
        let name = |id: &AgentId| match self.names.get(id) {
            Some(name) => name.clone(),
            None if self.root == Some(*id) => "root".to_owned(),
            None => id.to_string(),
        };
        let mut names: Vec<String> = agents.map(name).collect();
        names.sort_by_key(|name| (name != "root", name.clone()));
        names
    }

    /// The messages that led to edits of a file, by their events.
    pub fn said(&self, path: &str) -> impl Iterator<Item = Seq> + '_ {
        self.files.get(path).into_iter().flat_map(|edits| edits.said.iter().copied())
    }
}
