//! Calls that wait for a person: the answer that comes, and the time after which none is waited for.

use neco_proto::{Actor, CallId, Decision};
use tokio::time::Instant;

use super::approve::{self, CallError};
use super::call::{Call, Phase};
use super::progress::Record;
use super::schedule::Scheduler;

/// The setting that refuses calls which nobody answers for.
const APPROVAL_TIMEOUT: &str = "approval_timeout";

impl Scheduler {
    /// Applies a decision of `by`. Record what it returns, then call [`Scheduler::launch`].
    /// Fails when nothing waits under that id or new arguments do not fit.
    pub fn decide(
        &mut self,
        call_id: &CallId,
        decision: Decision,
        by: Option<Actor>,
    ) -> Result<Vec<Record>, CallError> {
        let found = self.calls.iter_mut().enumerate().find(|(_, call)| call.id == *call_id);
        let (index, call) = found.ok_or_else(|| CallError::NotWaiting(call_id.clone()))?;
        let decided = approve::decide(call, &self.registry, decision, by)?;
        let mut records: Vec<Record> = decided.events.into_iter().map(Record::Commit).collect();
        if let Some(granted) = decided.granted {
            records.extend(granted.take_effect(&mut self.policy).map(Record::Keep));
        }
        match decided.changed {
            // It may do something else now, so it takes its place in the order anew, and the gate sees it anew.
            Some(prepared) => {
                (call.ruling, call.answered) = (None, false);
                call.phase = Phase::Scheduled { prepared, approved: true, gated: false };
            }
            None => records.extend(self.announce(index)),
        }
        self.plan_next();
        Ok(records)
    }

    /// Refuses a call that nobody said anything about for as long as questions wait.
    pub(super) fn unanswered(&mut self, index: usize) -> Vec<Record> {
        let Some(call_id) = self.calls.get(index).map(|call| call.id.clone()) else { return Vec::new() };
        let time = self.limits.approval.unwrap_or_default();
        let reason = Some(format!("nobody answered within {} s", time.as_secs_f32()));
        let by = Actor::Rule { rule: APPROVAL_TIMEOUT.to_owned() };
        // It may have been answered in this very moment.
        self.decide(&call_id, Decision::Reject { reason }, Some(by)).unwrap_or_default()
    }

    /// The call whose question is the first to be given up, and when.
    pub(super) fn first_to_expire(&self) -> Option<(usize, Instant)> {
        let until = |call: &Call| match call.phase {
            Phase::AwaitingApproval { until, .. } => until,
            _ => None,
        };
        let waiting = self.calls.iter().enumerate().filter_map(|(index, call)| Some((index, until(call)?)));
        waiting.min_by_key(|(_, until)| *until)
    }
}
