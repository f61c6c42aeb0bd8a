//! What an error of this format means.
//!
//! Decided on status and details first, on wording last. One status stands for several things: a
//! wrong key is an invalid argument, and a quota that is used up for the day looks like too many
//! requests in a minute, apart from its name.

use std::time::Duration;

use serde_json::Value;

use crate::error::ErrorKind;
use crate::wire::format::Problem;
use crate::wire::openai_chat::problem::plain;

/// What an HTTP answer that is not a success means.
pub(super) fn of_answer(status: u16, body: &[u8]) -> Problem {
    let Ok(body_value) = serde_json::from_slice::<Value>(body) else {
        return Problem::new(kind_of_status(status), plain(body));
    };
    // A streaming call that is not answered by events is answered by a list, its errors too.
    let value = body_value.as_array().and_then(|list| list.first()).unwrap_or(&body_value);
    problem(status, value.get("error").unwrap_or(value))
}

/// What an error object in the middle of an answer means.
pub(super) fn of_event(error: &[u8]) -> Problem {
    let error: Value = serde_json::from_slice(error).unwrap_or_default();
    let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    problem(status.unwrap_or(500), &error)
}

fn problem(status: u16, error: &Value) -> Problem {
    let message = error.get("message").or(Some(error)).and_then(Value::as_str).unwrap_or("");
    let mut problem = Problem::new(kind(status, error, &message.to_lowercase()), message);
    problem.retry_after = details(error, "RetryInfo").find_map(|info| duration(info.get("retryDelay")?.as_str()?));
    problem
}

fn kind(status: u16, error: &Value, text: &str) -> ErrorKind {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let name = error.get("status").and_then(Value::as_str).unwrap_or("");
    match status {
        429 if is_used_up(error) || says(&["credits are depleted", "spending cap"]) => ErrorKind::Quota,
        400 if has_reason(error, "API_KEY_INVALID") || says(&["api key not valid", "api key expired"]) => {
            ErrorKind::Auth
        }
        400 if says(&["exceeds the maximum number of tokens", "input token count", "context is too long"]) => {
            ErrorKind::ContextLength
        }
        400 if says(&["payload size exceeds"]) => ErrorKind::RequestTooLarge,
        // The place or the plan lacks something that is no matter of the request.
        400 if name == "FAILED_PRECONDITION" => ErrorKind::Permission,
        _ => kind_of_status(status),
    }
}

fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        402 => ErrorKind::Quota,
        403 => ErrorKind::Permission,
        404 | 405 | 410 | 300..400 => ErrorKind::NotFound,
        408 | 504 | 524 => ErrorKind::Timeout,
        413 => ErrorKind::RequestTooLarge,
        429 => ErrorKind::RateLimit,
        // The vendor's own cancellation.
        409 | 499 => ErrorKind::ServerError,
        503 | 529 => ErrorKind::Overloaded,
        400..500 => ErrorKind::InvalidRequest,
        _ => ErrorKind::ServerError,
    }
}

/// Whether a limit was hit that is for the whole day, or one of nothing at all.
fn is_used_up(error: &Value) -> bool {
    let text = |violation: &Value, field: &str| violation.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
    details(error, "QuotaFailure")
        .filter_map(|failure| failure.get("violations")?.as_array())
        .flatten()
        .any(|violation| text(violation, "quotaId").contains("PerDay") || text(violation, "quotaValue") == "0")
}

fn has_reason(error: &Value, reason: &str) -> bool {
    details(error, "ErrorInfo").any(|info| info.get("reason").is_some_and(|given| given == reason))
}

/// The details of one type.
fn details<'a>(error: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = error.get("details").and_then(Value::as_array).into_iter().flatten();
    all.filter(move |detail| {
        detail.get("@type").and_then(Value::as_str).is_some_and(|name| name.rsplit(['.', '/']).next() == Some(kind))
    })
}

/// `28s` or `0.847655s`; rounded up, since a wait that is a little too short is of no use.
fn duration(text: &str) -> Option<Duration> {
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64((seconds * 1000.0).ceil() / 1000.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(status: u16, body: &str) -> ErrorKind {
        of_answer(status, body.as_bytes()).kind
    }

    #[test]
    fn what_is_no_error_object_is_judged_by_its_status() {
        assert_eq!(kind_of(502, "<html>Bad gateway</html>"), ErrorKind::ServerError);
        assert_eq!(kind_of(429, ""), ErrorKind::RateLimit);
        assert_eq!(kind_of(404, "[]"), ErrorKind::NotFound);
        assert_eq!(of_answer(400, br#"{"error":"no"}"#).message, "no");
        assert_eq!(of_event(b"null").kind, ErrorKind::ServerError);
    }

    #[test]
    fn a_quota_of_nothing_is_no_matter_of_waiting() {
        let details = r#"[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaValue":"0"}]}]"#;
        let body = format!(r#"{{"error":{{"code":429,"message":"quota","details":{details}}}}}"#);
        assert_eq!(kind_of(429, &body), ErrorKind::Quota);
    }

    #[test]
    fn delays_are_durations_and_nothing_else() {
        assert_eq!(duration("28s"), Some(Duration::from_secs(28)));
        assert_eq!(duration("0.847655s"), Some(Duration::from_millis(848)));
        for text in ["", "s", "28", "-1s", "NaNs", "1e400s"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
