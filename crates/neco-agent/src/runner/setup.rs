//! What an agent is made of.

use std::sync::Arc;

use neco_model::{History, Provider};
use neco_proto::event::Admission;
use neco_proto::{ApprovalMode, Message, Mode, Usage};
use neco_safety::World;
use neco_toolkit::{Registry, Spill};

use crate::context::Source;
use crate::ports::{Clock, EventSink};
use crate::scheduler::Limits;

/// What can change while an agent lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The mode.
    pub mode: Mode,
    /// When the person is asked.
    pub approval: ApprovalMode,
    /// Whether there is a person to ask.
    pub person_present: bool,
}

/// What a session may use in all; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub cost: Option<f64>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
}

impl Budget {
    /// Whether `usage` reaches it.
    #[must_use]
    pub fn is_used_up(&self, usage: &Usage) -> bool {
        self.cost.is_some_and(|most| usage.cost.unwrap_or(0.0) >= most)
            || self.tokens.is_some_and(|most| usage.input + usage.output >= most)
    }
}

/// What an agent is made of.
pub struct AgentSetup {
    /// The model it asks.
    pub provider: Arc<dyn Provider>,
    /// The tools that exist for it.
    pub registry: Registry,
    /// What those tools can touch.
    pub world: Arc<World>,
    /// Where big outputs go.
    pub spill: Arc<dyn Spill>,
    /// Where its events go.
    pub sink: Arc<dyn EventSink>,
    /// For durations.
    pub clock: Arc<dyn Clock>,
    /// What it is told besides the base prompts.
    pub sources: Vec<Arc<dyn Source>>,
    /// Limits of its calls.
    pub limits: Limits,
    /// Most turns for one request.
    pub max_turns: u32,
    /// What the session may use in all.
    pub budget: Budget,
    /// What the session used before.
    pub used: Usage,
    /// What can change while it lives.
    pub settings: Settings,
    /// What was said before.
    pub history: History,
    /// What was said to it but not yet admitted.
    pub queued: Vec<(Admission, Message)>,
    /// Stable for the session.
    pub cache_key: String,
}
