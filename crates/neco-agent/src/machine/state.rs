//! The states that a loop can rest in.

use neco_proto::event::AgentState;

use super::input::Halt;

/// What a loop waits for. Windows see less of it: [`State::shown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Something to do.
    Idle,
    /// The word to go on: a turn would begin, but whoever commands the agent holds it.
    Held,
    /// What was said: it is looked at before the turn that answers it begins.
    AtGate,
    /// The person, who decides whether the turn begins.
    AskingPerson,
    /// A summary: the model is asked when there is room for the question.
    Compacting,
    /// The model.
    Streaming,
    /// Whoever may object to the end of the work.
    EndAtGate,
    /// The checks of calls.
    ToolPending,
    /// The person, who decides on calls while none runs.
    AwaitingApproval,
    /// Calls that run.
    ToolExecuting,
    /// Something to do; the last work is done.
    Complete,
    /// Something to do; the last work failed.
    Failed,
    /// Something to do; the last work was stopped.
    Cancelled,
}

impl State {
    /// What windows are told: until it has answered, the model is what a turn waits for.
    pub fn shown(self) -> AgentState {
        match self {
            Self::Idle => AgentState::Idle,
            Self::Held | Self::AtGate | Self::Compacting | Self::Streaming | Self::EndAtGate => AgentState::Streaming,
            Self::ToolPending => AgentState::ToolPending,
            Self::AskingPerson | Self::AwaitingApproval => AgentState::AwaitingApproval,
            Self::ToolExecuting => AgentState::ToolExecuting,
            Self::Complete => AgentState::Complete,
            Self::Failed => AgentState::Failed,
            Self::Cancelled => AgentState::Cancelled,
        }
    }

    /// Whether calls of an answer are under way.
    pub(super) fn has_calls(self) -> bool {
        matches!(self, Self::ToolPending | Self::AwaitingApproval | Self::ToolExecuting)
    }

    /// Whether a turn is on its way to the model or to its end, so that it can still be blocked.
    pub(super) fn is_asking(self) -> bool {
        matches!(self, Self::AtGate | Self::AskingPerson | Self::Compacting | Self::Streaming | Self::EndAtGate)
    }

    /// Whether as much of the present turn is under way as `halt` does not wait for.
    pub(super) fn is_broken_off_by(self, halt: Halt) -> bool {
        match halt {
            Halt::AfterTurn => false,
            Halt::AfterCalls => matches!(self, Self::Compacting | Self::Streaming),
            Halt::AtOnce => self != Self::Held && self.shown().is_at_work(),
        }
    }
}
