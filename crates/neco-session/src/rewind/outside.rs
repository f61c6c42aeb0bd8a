//! Calls that reached beyond the workspace: no way back undoes what they did there.

use std::collections::HashMap;

use neco_proto::event::{CallStatus, PermissionRequest};
use neco_proto::{AgentId, CallId, Event, EventBody, Seq};

/// Calls that reached beyond the workspace, as far as the log tells: a person allowed them to run without the sandbox,
/// with the network, or with files that are closed otherwise. All others are held to the workspace.
#[derive(Clone, Debug, Default)]
pub(super) struct Outside {
    /// Those that were asked about, in words.
    asked: HashMap<(AgentId, CallId), String>,
    /// Those that ran, oldest first.
    ran: Vec<(Seq, String)>,
}

impl Outside {
    pub(super) fn note(&mut self, event: &Event) {
        match &event.body {
            EventBody::PermissionRequest(asked) if reaches_out(asked) => {
                let words = asked.command.as_ref().unwrap_or(&asked.summary).clone();
                self.asked.insert((event.agent_id, asked.call_id.clone()), words);
            }
            EventBody::ToolCallUpdate(update) if update.status == CallStatus::Executing => {
                let ran = self.asked.remove(&(event.agent_id, update.call_id.clone()));
                self.ran.extend(ran.map(|words| (event.seq, words)));
            }
            // Nothing else tells of it.
            _ => {}
        }
    }

    /// Those that ran after the event `since` and still count, oldest first.
    pub(super) fn since(&self, since: Seq, counts: impl Fn(Seq) -> bool) -> Vec<String> {
        let ran = self.ran.iter().filter(|(seq, _)| *seq > since && counts(*seq));
        ran.map(|(_, words)| words.clone()).collect()
    }
}

fn reaches_out(asked: &PermissionRequest) -> bool {
    asked.sandboxed == Some(false) || asked.network || asked.opens
}
