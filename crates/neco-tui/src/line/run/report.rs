//! A run as one JSON object.

use neco_proto::event::BudgetReached;
use neco_proto::visible;
use neco_proto::{ErrorCode, SessionId, Usage};
use neco_view::figures;
use serde::Serialize;

use super::exit::Exit;
use super::outcome::{Denial, Outcome, RunError};

/// What `--output-format json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The model's last words.
    pub result: String,
    /// The session; absent when none was opened.
    pub session_id: Option<SessionId>,
    /// Whether the exit code is not 0.
    pub is_error: bool,
    /// What went wrong, when something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// The exit code.
    pub exit_code: u8,
    /// Turns of this run.
    pub num_turns: u32,
    /// How long they took.
    pub duration_ms: u64,
    /// The model that answered last; absent when none did.
    pub model: Option<String>,
    /// Every model that answered, each once, the last one last.
    pub models: Vec<String>,
    /// US dollars of this run; absent when no price is known. At least that when `unpriced_turns` is
    /// not 0.
    pub total_cost_usd: Option<f64>,
    /// Turns of this run whose price is not known.
    pub unpriced_turns: u32,
    /// US dollars of the whole session, earlier runs included.
    pub session_cost_usd: Option<f64>,
    /// Turns of the whole session whose price is not known.
    pub session_unpriced_turns: u32,
    /// The limit that the session has reached, also when the work was done with that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_reached: Option<BudgetReached>,
    /// Tokens that the conversation has after the last call; absent when the vendor did not say.
    pub context_tokens: Option<u64>,
    /// Tokens that fit; absent when that is not known.
    pub context_window: Option<u64>,
    /// Tokens.
    pub usage: Usage,
    /// Calls that the policy or the person refused.
    pub permission_denials: Vec<Denial>,
}

impl Report {
    /// The report of a run.
    #[must_use]
    pub fn new(outcome: &Outcome, session: Option<SessionId>, exit: Exit) -> Self {
        let complete = outcome.complete.as_ref();
        let last_call = outcome.last_call.as_ref();
        let mut usage = complete.map(|complete| complete.usage).unwrap_or_default();
        usage += outcome.below;
        Self {
            result: complete.map(|complete| complete.final_text.clone()).unwrap_or_default(),
            session_id: session,
            is_error: exit != Exit::Done,
            error: (exit != Exit::Done).then(|| why(outcome, exit)),
            exit_code: exit.number(),
            num_turns: complete.map_or(0, |complete| complete.turns),
            duration_ms: complete.map_or(0, |complete| complete.duration_ms),
            model: outcome.models.last().cloned(),
            models: outcome.models.clone(),
            total_cost_usd: usage.cost,
            unpriced_turns: usage.unpriced,
            session_cost_usd: complete.and_then(|complete| complete.session_usage.cost),
            session_unpriced_turns: complete.map_or(0, |complete| complete.session_usage.unpriced),
            budget_reached: complete.and_then(|complete| complete.budget),
            context_tokens: last_call.map(|call| call.usage.input.saturating_add(call.usage.output)),
            context_window: last_call.and_then(|call| call.context_window),
            usage,
            permission_denials: outcome.denials.clone(),
        }
    }

    /// The object, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        visible::json(&serde_json::to_string(self).unwrap_or_default()).into_owned()
    }
}

fn why(outcome: &Outcome, exit: Exit) -> RunError {
    let code = outcome.complete.as_ref().and_then(|complete| complete.error_code);
    let words = |message: &str, code| RunError { code, message: message.to_owned() };
    match exit {
        Exit::Refused => {
            let last = outcome.denials.last();
            words(last.map_or("a call was refused", |denial| &denial.reason), last.map(|denial| denial.code))
        }
        Exit::Limit => match outcome.complete.as_ref().and_then(|complete| complete.budget) {
            Some(budget) if code == Some(ErrorCode::BudgetUsedUp) => words(&figures::budget(&budget), code),
            // What was said when it happened says which call, or which part.
            Some(_) | None => match outcome.error.as_ref().filter(|error| error.code == code) {
                Some(error) => error.clone(),
                None => words(code.map_or("a limit was reached", ErrorCode::for_user), code),
            },
        },
        Exit::Stopped(_) | Exit::Unread => words("cancelled", None),
        Exit::Done | Exit::Failed | Exit::Usage | Exit::Provider => match &outcome.error {
            Some(error) => error.clone(),
            None => words(code.map_or("failed", ErrorCode::for_user), code),
        },
    }
}
