//! What Neco itself tells a model that stopped where it should not have.

use crate::machine::Nudge;

/// What an agent is told that goes on after its turn was broken off.
pub(super) const BROKEN_OFF: &str = "You were paused in the middle of your last turn: what you were saying and every \
                                     call that had not ended was broken off. Go on with your task from there.";

/// What a model is told whose answer was no end of its work.
pub(super) fn nudge_text(nudge: Nudge) -> &'static str {
    match nudge {
        Nudge::Empty => "Your last answer was empty. Go on with the task, or say in a sentence that it is done.",
        Nudge::CutOff => "Your last answer was cut off by the output limit. Go on exactly where it stopped.",
        Nudge::TooLong => {
            "Your last answer was cut off because it was longer than an answer may be. Do not repeat it. Say in a few \
             words what matters, and write what is long into files, in several calls."
        }
    }
}
