//! Exit codes: one function of how a run ended.

use neco_proto::ErrorCode;
use neco_proto::event::CompleteReason;

use super::outcome::Outcome;
use crate::line::signals::Signal;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// Something failed.
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// The policy or the person refused what the model wanted last.
    Refused,
    /// The limit of turns, a budget or the model's window was reached.
    Limit,
    /// The model can't be had.
    Provider,
    /// Stopped from outside.
    Stopped(Signal),
    /// Whoever read the output left before the work was done.
    Unread,
}

impl Exit {
    /// The number the shell gets.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Limit => 4,
            Self::Provider => 5,
            Self::Stopped(signal) => 128 + signal.number(),
            // What a program that does not catch SIGPIPE ends with.
            Self::Unread => 141,
        }
    }

    /// How a run ends that came to `outcome`. `stopped` is the signal that ended it, if one did.
    #[must_use]
    pub fn of(outcome: &Outcome, stopped: Option<Signal>) -> Self {
        let Some(complete) = &outcome.complete else {
            return stopped
                .map_or_else(|| Self::of_code(outcome.error.as_ref().and_then(|error| error.code)), Self::Stopped);
        };
        match complete.reason {
            CompleteReason::Natural if outcome.was_refused() => Self::Refused,
            CompleteReason::Natural => Self::Done,
            CompleteReason::Stopped => Self::Refused,
            CompleteReason::IterationLimit | CompleteReason::Budget | CompleteReason::LoopDetected => Self::Limit,
            CompleteReason::Cancelled => Self::Stopped(stopped.unwrap_or(Signal::Interrupt)),
            CompleteReason::Failed => Self::of_code(complete.error_code),
        }
    }

    /// How a failure with this code ends.
    #[must_use]
    pub fn of_code(code: Option<ErrorCode>) -> Self {
        let Some(code) = code else { return Self::Failed };
        match code {
            ErrorCode::ModelTimedOut
            | ErrorCode::RateLimited
            | ErrorCode::NotAuthorised
            | ErrorCode::ProviderUnavailable
            | ErrorCode::EmptyAnswer
            | ErrorCode::AnswerRefused
            | ErrorCode::BrokenCall
            | ErrorCode::AnswerTooLong
            | ErrorCode::RequestRefused
            // A budget of ours ends the work and fails nothing; what fails is the vendor's credit.
            | ErrorCode::BudgetUsedUp => Self::Provider,
            ErrorCode::IterationLimit | ErrorCode::ContextTooLong => Self::Limit,
            ErrorCode::ToolNotFound
            | ErrorCode::InvalidArguments
            | ErrorCode::BlockedByPolicy
            | ErrorCode::ToolTimedOut
            | ErrorCode::ToolFailed
            | ErrorCode::RejectedByUser
            | ErrorCode::ServerNotFound
            | ErrorCode::ServerDisabled
            | ErrorCode::ServerUnreachable
            | ErrorCode::Interrupted
            | ErrorCode::FileNotFound
            | ErrorCode::PathOutsideWorkspace
            | ErrorCode::FileTooLarge
            | ErrorCode::EditTextNotUnique
            | ErrorCode::EditTextNotFound
            | ErrorCode::FileChanged
            | ErrorCode::NotATextFile
            | ErrorCode::CommandBlocked
            | ErrorCode::CommandTimedOut
            | ErrorCode::SandboxDenied
            | ErrorCode::LoopDetected
            | ErrorCode::StoreFailed
            | ErrorCode::SessionInUse
            | ErrorCode::ServerEnding => Self::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::Usage;
    use neco_proto::event::AgentComplete;

    use super::*;
    use crate::line::run::outcome::RunError;

    fn complete(reason: CompleteReason, error_code: Option<ErrorCode>) -> Outcome {
        let mut outcome = Outcome::default();
        outcome.complete = Some(AgentComplete {
            reason,
            error_code,
            final_text: String::new(),
            turns: 1,
            usage: Usage::default(),
            session_usage: Usage::default(),
            duration_ms: 0,
            waited_ms: 0,
            budget: None,
            by: None,
        });
        outcome
    }

    #[test]
    fn every_end_has_its_number() {
        use CompleteReason::{Budget, Cancelled, Failed, IterationLimit, Natural};
        let mut refused = complete(Natural, None);
        refused.refused.change = true;
        let broken_off = Outcome::of_failure(RunError { code: Some(ErrorCode::StoreFailed), message: String::new() });
        for (outcome, stopped, number) in [
            (complete(Natural, None), None, 0),
            (refused, None, 3),
            (complete(IterationLimit, Some(ErrorCode::IterationLimit)), None, 4),
            (complete(Budget, Some(ErrorCode::BudgetUsedUp)), None, 4),
            (complete(Cancelled, None), None, 130),
            (complete(Cancelled, None), Some(Signal::Interrupt), 130),
            (complete(Cancelled, None), Some(Signal::Terminate), 143),
            (complete(Cancelled, None), Some(Signal::HangUp), 129),
            // Whoever stops a run that was done already stopped nothing.
            (complete(Natural, None), Some(Signal::Interrupt), 0),
            (complete(Failed, Some(ErrorCode::ModelTimedOut)), None, 5),
            (complete(Failed, Some(ErrorCode::RateLimited)), None, 5),
            (complete(Failed, Some(ErrorCode::NotAuthorised)), None, 5),
            (complete(Failed, Some(ErrorCode::ContextTooLong)), None, 4),
            (complete(Failed, Some(ErrorCode::ProviderUnavailable)), None, 5),
            (complete(Failed, Some(ErrorCode::BudgetUsedUp)), None, 5),
            (complete(Failed, Some(ErrorCode::AnswerRefused)), None, 5),
            (complete(Failed, Some(ErrorCode::BrokenCall)), None, 5),
            (complete(Failed, Some(ErrorCode::AnswerTooLong)), None, 5),
            (complete(Failed, Some(ErrorCode::RequestRefused)), None, 5),
            (complete(Failed, Some(ErrorCode::StoreFailed)), None, 1),
            (complete(Failed, None), None, 1),
            (broken_off, None, 1),
            (Outcome::default(), Some(Signal::Terminate), 143),
        ] {
            assert_eq!(Exit::of(&outcome, stopped).number(), number, "{outcome:?}");
        }
        assert_eq!((Exit::Usage.number(), Exit::Unread.number()), (2, 141));
    }
}
