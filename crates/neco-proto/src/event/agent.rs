//! Payloads about an agent's loop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error_code::ErrorCode;
use crate::mode::names;
use crate::usage::{Usage, finite};

names! {
    /// What an agent's loop is doing.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum AgentState {
        /// Waiting for something to do.
        #[default]
        Idle = "idle",
        /// The model answers.
        Streaming = "streaming",
        /// The model asked for calls; they are being checked.
        ToolPending = "tool_pending",
        /// At least one call waits for a person and none runs.
        AwaitingApproval = "awaiting_approval",
        /// Calls run.
        ToolExecuting = "tool_executing",
        /// All calls of the turn have results.
        ToolResultReady = "tool_result_ready",
        /// The limit of turns was reached.
        IterationLimit = "iteration_limit",
        /// Done.
        Complete = "complete",
        /// The model could not be reached for good.
        Failed = "failed",
        /// The person stopped it.
        Cancelled = "cancelled",
    }
}

impl AgentState {
    /// Whether something is being done, so that a message would have to wait.
    #[must_use]
    pub fn is_at_work(self) -> bool {
        match self {
            Self::Streaming
            | Self::ToolPending
            | Self::AwaitingApproval
            | Self::ToolExecuting
            | Self::ToolResultReady => true,
            Self::Idle | Self::IterationLimit | Self::Complete | Self::Failed | Self::Cancelled => false,
        }
    }
}

/// The loop went from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateChange {
    /// Before.
    pub from: AgentState,
    /// After.
    pub to: AgentState,
    /// The iteration it happened in.
    pub iteration: u32,
}

names! {
    /// Why an agent is done.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CompleteReason {
        /// The model had nothing more to do.
        Natural = "natural",
        /// The limit of turns was reached.
        IterationLimit = "iteration_limit",
        /// The person stopped it.
        Cancelled = "cancelled",
        /// The model could not be reached, or the session could not be written.
        Failed = "failed",
        /// The money, the tokens or the time that was allowed is used up.
        Budget = "budget",
        /// A hook blocked what was asked, or ended the work; or the person dropped the plan.
        Stopped = "stopped",
        /// The model was repeating itself.
        LoopDetected = "loop_detected",
    }
}

/// The agent is done with what it was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentComplete {
    /// Why.
    pub reason: CompleteReason,
    /// What failed, when something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The model's last words.
    #[serde(rename = "final")]
    pub final_text: String,
    /// Turns since the user message.
    pub turns: u32,
    /// What those turns used.
    pub usage: Usage,
    /// What the session used in all, those turns included.
    #[serde(default)]
    pub session_usage: Usage,
    /// How long they took.
    pub duration_ms: u64,
    /// The part of that in which the person was waited for.
    #[serde(default)]
    pub waited_ms: u64,
    /// The limit that the session has reached, whether or not that ended the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReached>,
    /// Who stopped it, when somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

impl AgentComplete {
    /// How long the agent worked, without the time in which the person was waited for.
    #[must_use]
    pub fn worked_ms(&self) -> u64 {
        self.duration_ms.saturating_sub(self.waited_ms)
    }
}

/// A limit of a session that is reached, and what the session used in all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum BudgetReached {
    /// US dollars, as far as prices are known.
    Cost {
        /// What may be spent.
        limit: f64,
        /// What was spent.
        #[serde(deserialize_with = "finite")]
        used: f64,
    },
    /// Input and output tokens together.
    Tokens {
        /// What may be used.
        limit: u64,
        /// What was used.
        used: u64,
    },
    /// Seconds of work; waiting for the person is none.
    Time {
        /// What may be used.
        limit: f64,
        /// What was used.
        #[serde(deserialize_with = "finite")]
        used: f64,
    },
}
