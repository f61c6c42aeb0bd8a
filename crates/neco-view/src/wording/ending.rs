//! The last line of a run: how it ended and how it is gone on with.

use neco_proto::event::{BudgetReached, CompleteReason};

use crate::figures;
use crate::reduce::block::WorkEnd;

/// How the work ended, before how long it took.
pub fn ending(end: &WorkEnd) -> String {
    match end.reason {
        CompleteReason::Natural => "done in".to_owned(),
        CompleteReason::IterationLimit => {
            let turns = figures::count(end.turns.into(), "turn");
            format!("stopped at the limit of {turns} (--max-turns) after")
        }
        CompleteReason::Budget if end.turns == 0 => "stopped before anything was asked, after".to_owned(),
        CompleteReason::Budget => "stopped: budget reached, after".to_owned(),
        CompleteReason::Stopped if end.plan_dropped => "the plan was dropped after".to_owned(),
        CompleteReason::Stopped => "stopped by a hook after".to_owned(),
        CompleteReason::LoopDetected => "stopped: it was repeating itself, after".to_owned(),
        CompleteReason::Cancelled => "stopped after".to_owned(),
        CompleteReason::Failed => "failed after".to_owned(),
    }
}

/// The command that goes on with the session.
pub fn going_on(id: &str, end: &WorkEnd) -> String {
    let (message, more) = match (end.reason, end.budget) {
        (CompleteReason::Budget, Some(BudgetReached::Cost { .. })) => ("continue", " --max-cost USD"),
        (CompleteReason::Budget, Some(BudgetReached::Tokens { .. })) => ("continue", " -c agent.max_tokens=N"),
        (CompleteReason::Budget, Some(BudgetReached::Time { .. })) => ("continue", " -c agent.max_seconds=N"),
        (CompleteReason::IterationLimit | CompleteReason::Cancelled, _) => ("continue", ""),
        (
            CompleteReason::Natural
            | CompleteReason::Budget
            | CompleteReason::Failed
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected,
            _,
        ) => ("…", ""),
    };
    format!("Resume it with  neco resume {id} -m \"{message}\"{more}")
}
