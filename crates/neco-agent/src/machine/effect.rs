//! What a loop wants done.

use neco_proto::ErrorCode;
use neco_proto::event::{CompleteReason, StateChange};

use super::input::Stamp;

/// What a loop wants done, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "a variant says what it carries")]
pub enum Effect {
    /// Tell the world about a transition.
    Change(StateChange),
    /// Take in what was said meanwhile; report with [`super::Input::Passed`] when all of it has passed the gate.
    TakeInSaid {
        /// To be returned with the report.
        stamp: Stamp,
    },
    /// Begin the turn: ask the model, or report why not yet or not at all.
    BeginTurn {
        /// To be returned with the answer.
        stamp: Stamp,
        iteration: u32,
    },
    /// Ask the model now that there is room; answer with [`super::Input::Answered`] or
    /// [`super::Input::ProviderFailed`].
    AskModel {
        /// To be returned with the answer.
        stamp: Stamp,
    },
    /// Run the calls of the answer; report with [`super::Input::CallsMoved`].
    RunCalls {
        /// To be returned with the reports.
        stamp: Stamp,
    },
    /// All calls have results: close the turn.
    EndTurn { iteration: u32 },
    /// Tell the model that its answer was empty, or was cut off.
    Nudge(Nudge),
    /// Tell the model that its last turn was broken off, and that it goes on.
    TellBrokenOff,
    /// Drop the stream and kill what runs.
    StopWork,
    /// Tell the person that the model says nothing.
    NoAnswer {
        /// How often in a row it was asked.
        times: u32,
    },
    /// Tell the person that the model's answers are longer than answers may be.
    NoEnd,
    /// The work is over.
    Finish { reason: CompleteReason, code: Option<ErrorCode> },
}

/// What the model is told when it stopped without being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nudge {
    /// It said nothing.
    Empty,
    /// The output limit cut it off.
    CutOff,
    /// It was more than an answer may be.
    TooLong,
}
