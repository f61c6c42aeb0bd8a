//! What can happen to a loop.

use neco_proto::ErrorCode;
use neco_proto::event::CompleteReason;

/// Which turn asked. Every effect that starts work carries one, every answer returns it, and
/// answers to older ones are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub(super) u64);

/// What the model's answer amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// It wants calls run.
    Calls,
    /// Text only: it is done.
    Text,
    /// Text only, but something objects to its being done.
    Held,
    /// Neither text nor calls.
    Empty,
    /// Text that the output limit cut off.
    CutOff,
    /// The model or its vendor's filter declined.
    Refused,
    /// More than an answer may be, without calls; what came so far is there.
    TooLong,
    /// The vendor pauses; it goes on when it is asked again.
    Paused,
}

/// How the work ends before the model says that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Why.
    pub reason: CompleteReason,
    /// What went wrong, when something did.
    pub code: Option<ErrorCode>,
}

impl End {
    /// Somebody else than the model ends it.
    pub const STOPPED: Self = Self { reason: CompleteReason::Stopped, code: None };
    /// Nothing is left to do.
    pub const DONE: Self = Self { reason: CompleteReason::Natural, code: None };
    /// What may be used is used up.
    pub const BUDGET: Self = Self { reason: CompleteReason::Budget, code: Some(ErrorCode::BudgetUsedUp) };
    /// The model repeats itself.
    pub const LOOP: Self = Self { reason: CompleteReason::LoopDetected, code: Some(ErrorCode::LoopDetected) };
}

/// How much of the present turn of an agent that is held still happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// All of it.
    AfterTurn,
    /// Its calls come to their end; an answer that is being written is broken off.
    AfterCalls,
    /// Nothing: the answer and every call are broken off.
    AtOnce,
}

/// What can happen to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a variant says what it carries")]
pub enum Input {
    /// There is something to do: a user message, or the word to go on.
    Begin,
    /// The calls of an answer that is there already are to be run, because another process was given it or a call is
    /// tried again: the turn goes on with them.
    TakeUp,
    /// What was said has passed the gate.
    Passed {
        stamp: Stamp,
        /// Whether anything is left of it.
        something: bool,
    },
    /// There is no room for the question before a summary is written.
    Compacts { stamp: Stamp },
    /// There is as much room as can be made.
    Compacted { stamp: Stamp },
    /// The model is done, and somebody is asked whether they object.
    EndAtGate {
        /// The turn whose answer it is.
        stamp: Stamp,
    },
    /// The model's answer is whole.
    Answered { stamp: Stamp, kind: AnswerKind },
    /// The model can't be had: retries and failover are used up.
    ProviderFailed { stamp: Stamp, code: ErrorCode },
    /// Calls moved on.
    CallsMoved {
        stamp: Stamp,
        /// How many wait for a person.
        waiting: usize,
        running: usize,
        /// How many have no result yet, waiting and running ones included.
        open: usize,
    },
    /// What was to be asked may not be: nothing is left to do.
    Blocked {
        /// The turn that would have asked.
        stamp: Stamp,
        end: End,
    },
    /// Before the model is asked, the person is.
    Waits { stamp: Stamp },
    /// The person has answered, and the model is asked.
    GoesOn { stamp: Stamp },
    /// The work is to end: the present turn ends, no other begins.
    Halt(End),
    /// The budget is used up: the present turn ends, no other begins.
    BudgetUsedUp,
    /// No further turn begins, and no more of the present one happens than this says. A turn that is broken off is
    /// asked again.
    Hold(Halt),
    /// Turns begin again.
    Release,
    /// The time of work is used up: an answer that still comes in is not waited for, what runs ends the turn.
    TimeUp,
    /// The person stops it.
    Cancel,
}

impl Input {
    /// The turn that it belongs to, where it belongs to one.
    pub(super) fn stamp(self) -> Option<Stamp> {
        match self {
            Self::Passed { stamp, .. }
            | Self::Compacts { stamp }
            | Self::Compacted { stamp }
            | Self::EndAtGate { stamp }
            | Self::Answered { stamp, .. }
            | Self::ProviderFailed { stamp, .. }
            | Self::CallsMoved { stamp, .. }
            | Self::Blocked { stamp, .. }
            | Self::Waits { stamp }
            | Self::GoesOn { stamp } => Some(stamp),
            Self::Begin
            | Self::TakeUp
            | Self::Hold(_)
            | Self::Release
            | Self::Halt(_)
            | Self::BudgetUsedUp
            | Self::TimeUp
            | Self::Cancel => None,
        }
    }
}
