//! A run as one JSON object.

use neco_proto::{SessionId, Usage};
use serde::Serialize;

use crate::exit::Exit;
use crate::outcome::{Denial, Outcome, RunError};

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
    /// US dollars of this run; absent when the price of the model is not known.
    pub total_cost_usd: Option<f64>,
    /// The same of the whole session, earlier runs included.
    pub session_cost_usd: Option<f64>,
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
        let usage = complete.map(|complete| complete.usage).unwrap_or_default();
        Self {
            result: complete.map(|complete| complete.final_text.clone()).unwrap_or_default(),
            session_id: session,
            is_error: exit != Exit::Done,
            error: (exit != Exit::Done).then(|| why(outcome, exit)),
            exit_code: exit.number(),
            num_turns: complete.map_or(0, |complete| complete.turns),
            duration_ms: complete.map_or(0, |complete| complete.duration_ms),
            total_cost_usd: usage.cost,
            session_cost_usd: complete.and_then(|complete| complete.session_usage.cost),
            context_tokens: last_call.map(|call| call.usage.input.saturating_add(call.usage.output)),
            context_window: last_call.and_then(|call| call.context_window),
            usage,
            permission_denials: outcome.denials.clone(),
        }
    }

    /// The object, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
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
        Exit::Limit if outcome.error.is_none() => words("the limit of turns was reached", code),
        Exit::Stopped(_) | Exit::Unread => words("cancelled", None),
        Exit::Done | Exit::Failed | Exit::Usage | Exit::Limit | Exit::Provider => match &outcome.error {
            Some(error) => error.clone(),
            None => words(code.map_or("failed", neco_proto::ErrorCode::for_user), code),
        },
    }
}
