//! What comes of calls: what is to be recorded, what their work came to, and how they stand.

use neco_proto::EventBody;
use neco_safety::Grant;
use neco_toolkit::{Plan, PreparedCall, ToolError};

use super::ahead::Behind;
use super::call::Outcome;
use super::gated::Question;
use crate::gate::HookDecision;

/// An event to be recorded before the scheduler goes on.
#[derive(Clone, Debug)]
pub enum Record {
    /// May reach the disk a little later.
    Emit(EventBody),
    /// Must be on the disk first.
    Commit(EventBody),
    /// What a person allowed and wants to be kept.
    Keep(Box<Grant>),
}

/// What a call's work came to. Opaque: hand it to [`Scheduler::absorb`](super::Scheduler::absorb).
pub struct Progress(pub(super) Work);

pub(super) enum Work {
    Gated {
        index: usize,
        prepared: Box<dyn PreparedCall>,
        approved: bool,
        word: HookDecision,
    },
    Ahead {
        index: usize,
        question: Box<Question>,
        behind: Vec<Behind>,
    },
    Asked {
        index: usize,
        question: Box<Question>,
        word: HookDecision,
    },
    Finished {
        index: usize,
        word: HookDecision,
    },
    Planned {
        index: usize,
        prepared: Box<dyn PreparedCall>,
        plan: Result<Plan, ToolError>,
    },
    Ran {
        index: usize,
        outcome: Outcome,
    },
    /// Nobody answered in time.
    Unanswered {
        index: usize,
    },
    Crashed {
        index: usize,
    },
}

/// How the calls of the turn stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Wait for a person.
    pub waiting: usize,
    /// Run.
    pub running: usize,
    /// Have no result yet.
    pub open: usize,
}
