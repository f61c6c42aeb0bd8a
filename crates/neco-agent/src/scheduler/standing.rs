//! How the calls of a turn stand, and what those touched that ran.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::call::{Outcome, Phase};
use super::schedule::Scheduler;

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

impl Scheduler {
    /// How the calls stand.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for call in &self.calls {
            match call.phase {
                Phase::AwaitingApproval { .. } | Phase::AwaitingAnswer { .. } => counts.waiting += 1,
                Phase::Cleared(_) | Phase::Executing { .. } | Phase::Finishing { .. } => counts.running += 1,
                Phase::Scheduled { .. } | Phase::AtGate { .. } | Phase::Planning { .. } => {}
                Phase::Done(_) => continue,
            }
            counts.open += 1;
        }
        counts
    }

    /// The files and folders that were touched since this was last asked.
    pub fn take_touched(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.touched)
    }

    /// Notes what a call touched that has run.
    pub(super) fn note_touched(&mut self, index: usize, outcome: &Outcome) {
        if let Some(call) = self.calls.get_mut(index) {
            self.touched.extend(call.touches.drain(..).chain(outcome.touched.iter().cloned()));
        }
    }
}
