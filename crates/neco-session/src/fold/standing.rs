//! How a session stands: everything but the conversation.

use neco_proto::event::{AgentState, PermissionRequest};
use neco_proto::{AgentId, ApprovalMode, Event, EventBody, Mode, Seq, Usage};

/// How a session stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// The last event.
    pub last_seq: Seq,
    /// The root agent; `None` before the first event.
    pub root_agent: Option<AgentId>,
    /// The workspace.
    pub cwd: String,
    /// The model or group.
    pub model: String,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// What the root agent is doing.
    pub state: AgentState,
    /// Used so far.
    pub usage: Usage,
    /// Approvals that wait.
    pub pending: Vec<PermissionRequest>,
}

impl Standing {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.last_seq = event.seq;
        self.root_agent.get_or_insert(event.agent_id);
        match &event.body {
            EventBody::SessionStart(start) => {
                self.cwd.clone_from(&start.cwd);
                self.model.clone_from(&start.model);
                self.mode = start.mode;
                self.approval = start.approval;
                self.state = AgentState::Idle;
                self.pending.clear();
            }
            EventBody::StateChange(change) => self.state = change.to,
            EventBody::ModeChange(change) => {
                self.mode = change.mode.unwrap_or(self.mode);
                self.approval = change.approval.unwrap_or(self.approval);
                if let Some(model) = &change.model {
                    self.model.clone_from(model);
                }
            }
            EventBody::Usage(used) => self.usage += used.usage,
            EventBody::PermissionRequest(request) => self.pending.push(request.clone()),
            EventBody::PermissionDecision(decided) => {
                self.pending.retain(|request| request.call_id != decided.call_id);
            }
            EventBody::ToolCallEnd(end) => self.pending.retain(|request| request.call_id != end.call_id),
            EventBody::TurnStart(_)
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ModelRetry(_)
            | EventBody::ModelSwitch(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolOutputChunk(_)
            | EventBody::HookRun(_)
            | EventBody::Notification(_)
            | EventBody::MessageQueued(_)
            | EventBody::Message(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_)
            | EventBody::AgentComplete(_) => {}
        }
    }
}
