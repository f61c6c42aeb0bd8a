//! What an error of this format means, whatever shape its vendor gives it.
//!
//! Decided on status, type and code first, on wording last: wording changes without notice.

use serde_json::Value;

use crate::error::ErrorKind;
use crate::wire::cut;
use crate::wire::format::Problem;

/// The parts of an error that say something.
#[derive(Default)]
struct Words {
    message: String,
    /// Type, code and inner code in lower case, one after the other.
    marks: Vec<String>,
    /// A status that stands in the body, as it does inside a stream.
    status: Option<u16>,
}

/// What an HTTP answer that is not a success means.
pub(in crate::wire) fn of_answer(status: u16, body: &[u8]) -> Problem {
    let words = words(body);
    let kind = kind(Some(status), &words);
    Problem::new(kind, words.message)
}

/// What an error event in a stream, or in a body that came with success, means.
pub(in crate::wire) fn of_event(data: &[u8]) -> Problem {
    let words = words(data);
    let kind = kind(words.status, &words);
    Problem::new(kind, words.message)
}

fn kind(status: Option<u16>, words: &Words) -> ErrorKind {
    if status == Some(413) {
        return ErrorKind::RequestTooLarge;
    }
    if let Some(kind) = kind_of_special_marks(status, words).or_else(|| kind_of_wording(status, words)) {
        return kind;
    }
    match status {
        Some(status) => kind_of_status(status, words),
        None => kind_of_marks(words).unwrap_or(ErrorKind::ServerError),
    }
}

/// Marks that say more than the status they come with.
fn kind_of_special_marks(status: Option<u16>, words: &Words) -> Option<ErrorKind> {
    let special = words.marks.iter().find_map(|mark| match mark.as_str() {
        "context_length_exceeded" | "exceed_context_size_error" => Some(ErrorKind::ContextLength),
        "insufficient_quota" | "billing_hard_limit_reached" | "1113" => Some(ErrorKind::Quota),
        "content_filter"
        | "responsibleaipolicyviolation"
        | "content_policy_violation"
        | "data_inspection_failed"
        | "1301" => Some(ErrorKind::ContentFilter),
        "tool_use_failed" => Some(ErrorKind::MalformedToolCall),
        "model_not_found" => Some(ErrorKind::NotFound),
        _ => None,
    });
    special.or_else(|| (status == Some(402)).then_some(ErrorKind::Quota))
}

/// What the words say, where neither status nor marks say what kind of failure it is.
fn kind_of_wording(status: Option<u16>, words: &Words) -> Option<ErrorKind> {
    let text = words.message.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    // An error in a stream has no status; then its marks must leave it open.
    let vague = match status {
        Some(status) => matches!(status, 400 | 404 | 422),
        None => !matches!(
            kind_of_marks(words),
            Some(
                ErrorKind::RateLimit
                    | ErrorKind::Overloaded
                    | ErrorKind::Auth
                    | ErrorKind::Permission
                    | ErrorKind::Timeout
                    | ErrorKind::NotFound
            )
        ),
    };
    let loads = match status {
        Some(503 | 425) => says(LOADING_PHRASES),
        // A model that can't be loaded is told with the same words.
        Some(status) => status >= 500 && says(LOADING_IN_ERROR),
        None => says(LOADING_PHRASES) && !says(&["error"]),
    };
    if loads && !says(NEVER_LOADED) {
        Some(ErrorKind::Loading)
    } else if vague && says(CONTEXT_PHRASES) {
        Some(ErrorKind::ContextLength)
    } else if says(QUOTA_PHRASES) {
        Some(ErrorKind::Quota)
    } else if says(CALL_PHRASES) {
        Some(ErrorKind::MalformedToolCall)
    } else {
        None
    }
}

const CONTEXT_PHRASES: &[&str] = &[
    "maximum context length",
    "context window",
    "available context size",
    "context length",
    "prompt is too long",
    "exceed context limit",
    "input is too long",
    "maximum prompt length",
    "too many tokens",
    "exceeds the model's max",
];

/// What local servers say while they read their model from the disk: llama.cpp, Ollama, LM Studio, and servers that
/// start a model when it is first asked for.
const LOADING_PHRASES: &[&str] = &[
    "loading model",
    "loading the model",
    "model loading",
    "model is loading",
    "model is being loaded",
    "model is not loaded yet",
    "currently loading",
    "still loading",
    "being loaded",
];

/// What Ollama says of it with a status that stands for every failure.
const LOADING_IN_ERROR: &[&str] = &["server loading model"];

/// What is said of a model that waiting does not load.
const NEVER_LOADED: &[&str] = &["error loading", "failed", "unable", "terminated"];

const QUOTA_PHRASES: &[&str] =
    &["exceeded your current quota", "insufficient balance", "insufficient credits", "credit balance is too low"];

/// What llama.cpp says when it can't read what its model wrote where a call could stand.
const CALL_PHRASES: &[&str] =
    &["output that does not match the expected", "failed to parse input at pos", "failed to parse tool call"];

fn kind_of_status(status: u16, words: &Words) -> ErrorKind {
    match status {
        401 => ErrorKind::Auth,
        403 => ErrorKind::Permission,
        404 | 405 | 410 => ErrorKind::NotFound,
        408 | 504 | 524 => ErrorKind::Timeout,
        409 | 425 => ErrorKind::ServerError,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        300..400 => ErrorKind::NotFound,
        400..500 if words.marks.iter().any(|mark| mark == "invalid_api_key") => ErrorKind::Auth,
        400..500 => ErrorKind::InvalidRequest,
        _ => kind_of_marks(words).unwrap_or(ErrorKind::ServerError),
    }
}

fn kind_of_marks(words: &Words) -> Option<ErrorKind> {
    words.marks.iter().find_map(|mark| match mark.as_str() {
        "server_is_overloaded" | "slow_down" | "overloaded_error" | "unavailable_error" | "service_unavailable" => {
            Some(ErrorKind::Overloaded)
        }
        "rate_limit_exceeded" | "rate_limited" | "rate_limit_error" | "too_many_requests" => Some(ErrorKind::RateLimit),
        "authentication_error" | "invalid_api_key" => Some(ErrorKind::Auth),
        "permission_error" | "permission_denied" => Some(ErrorKind::Permission),
        "not_found_error" => Some(ErrorKind::NotFound),
        "invalid_request_error" | "invalid_prompt" | "badrequesterror" => Some(ErrorKind::InvalidRequest),
        "timeout" | "timeout_error" => Some(ErrorKind::Timeout),
        _ => None,
    })
}

/// Reads `{error: {…}}`, `{error: "…"}`, a flat error object, FastAPI's `detail`, or plain text.
fn words(body: &[u8]) -> Words {
    let Some(value) = serde_json::from_slice::<Value>(body).ok().or_else(|| cut::parse(body)) else {
        return Words { message: plain(body), ..Words::default() };
    };
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    if let Some(text) = error.as_str() {
        return Words { message: text.to_owned(), ..Words::default() };
    }
    let marks = [error.get("type"), error.get("code"), error.get("status"), error.pointer("/innererror/code")];
    Words {
        message: message(error),
        marks: marks.into_iter().flatten().filter_map(mark).collect(),
        status: error
            .get("code")
            .and_then(number)
            .and_then(|code| u16::try_from(code).ok())
            .filter(|code| (400..600).contains(code)),
    }
}

fn message(error: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let own = ["message", "detail", "msg"].into_iter().find_map(|field| error.get(field).and_then(text));
    let upstream = error.pointer("/metadata/raw").and_then(text);
    match (own, upstream) {
        (Some(own), Some(upstream)) => format!("{own}: {upstream}"),
        (own, upstream) => own.or(upstream).unwrap_or_default(),
    }
}

fn mark(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A body that is no JSON: short text is worth showing, a web page is not.
pub(in crate::wire) fn plain(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.starts_with('<') { String::new() } else { text.chars().take(300).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_model_that_is_being_loaded_is_waited_for() {
        let kind = |status, message: &str| of_answer(status, format!("{{\"error\":\"{message}\"}}").as_bytes()).kind;
        for (status, message) in [
            (503, "Loading model"),
            (425, "the model is being loaded"),
            (500, "unexpected server status: llm server loading model"),
        ] {
            assert_eq!(kind(status, message), ErrorKind::Loading, "{status} {message}");
        }
        for (status, message) in [
            (500, "Loading model"),
            (500, "llama runner process has terminated: error loading model"),
            (500, "error loading model: no such file"),
            (503, "failed while loading model"),
            (503, "unable to go on loading the model"),
            (400, "Loading model"),
        ] {
            assert_ne!(kind(status, message), ErrorKind::Loading, "{status} {message}");
        }
        let told = |message: &str| of_event(format!("{{\"error\":{{\"message\":\"{message}\"}}}}").as_bytes()).kind;
        assert_eq!(told("Loading model"), ErrorKind::Loading);
        for message in ["error: loading model", "failed loading model", "loading model: runner terminated"] {
            assert_eq!(told(message), ErrorKind::ServerError, "{message}");
        }
    }
}
