//! What a person is told when a call fails: what happened, and what to do next. Never the key.

use std::error::Error;
use std::time::{Duration, SystemTime};

use http::HeaderMap;

use super::client::{self, BuildError};
use crate::error::{ErrorKind, ModelError, Place};
use crate::route::{Endpoint, Key};
use crate::wire::format::Problem;

#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub endpoint: &'a Endpoint,
    pub model: &'a str,
    pub key: Option<&'a Key>,
}

impl Asked<'_> {
    /// Takes the key out of a text, also where a vendor shows only its beginning or stars in it, and
    /// the other secrets of the endpoint.
    pub(crate) fn redact(&self, text: String) -> String {
        let text = self.endpoint.redact(text);
        match self.key {
            Some(key) => key.redact(&text),
            None => text,
        }
    }

    fn error(&self, kind: ErrorKind, place: Place, told: Told) -> ModelError {
        let mut error = ModelError::new(kind, place, self.redact(told.text));
        error.advice = told.advice.map(|advice| self.redact(advice));
        error
    }
}

/// What happened, and what to do about it.
struct Told {
    text: String,
    advice: Option<String>,
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        Self { text, advice: None }
    }
}

impl Told {
    fn advising(text: String, advice: impl Into<String>) -> Self {
        Self { text, advice: Some(advice.into()) }
    }
}

/// An answer that is not a success.
pub(crate) fn of_answer(asked: Asked<'_>, problem: &Problem, status: u16, headers: &HeaderMap) -> ModelError {
    let mut error = asked.error(problem.kind, Place::Http, explain(asked, problem, Some(status), headers));
    error.status = Some(status);
    error.never_retry = forbidden(headers);
    error.retry_after = retry_after(problem, headers);
    error
}

/// A problem in the middle of an answer.
pub(super) fn of_stream(asked: Asked<'_>, problem: &Problem) -> ModelError {
    let headers = HeaderMap::new();
    let mut error = asked.error(problem.kind, Place::Stream, explain(asked, problem, None, &headers));
    error.retry_after = retry_after(problem, &headers);
    error
}

/// Why an answer did not get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// Nothing came at all.
    FirstByte,
    /// It stopped coming.
    Idle,
    /// Only signs of life came.
    Stalled,
}

/// Nothing in time.
pub(super) fn of_silence(asked: Asked<'_>, silence: Silence, after: Duration) -> ModelError {
    let (provider, after) = (&asked.endpoint.provider, spoken(after));
    let (place, text) = match silence {
        Silence::FirstByte => {
            (Place::Http, format!("{provider} sent nothing for {after} (network.first_byte_timeout)"))
        }
        Silence::Idle => (Place::Stream, format!("{provider} fell silent for {after} (network.idle_timeout)")),
        Silence::Stalled => (
            Place::Stream,
            format!("{provider} sent signs of life and nothing else for {after} (network.stall_timeout)"),
        ),
    };
    ModelError::new(ErrorKind::Timeout, place, text)
}

/// The request could not be sent, or the connection broke.
pub(super) fn of_transport(asked: Asked<'_>, place: Place, error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let cause = root_cause(&error);
    if error.is_connect() {
        return unreachable(asked, &error, &cause);
    }
    let provider = &asked.endpoint.provider;
    let text = match place {
        Place::Http => format!("{provider} closed the connection before it answered ({cause})"),
        Place::Stream => format!("the connection to {provider} broke in the middle of the answer ({cause})"),
    };
    asked.error(ErrorKind::StreamCut, place, text.into())
}

/// The client itself could not be built.
pub(super) fn of_setup(asked: Asked<'_>, cause: &BuildError) -> ModelError {
    let text = format!("the connection to {} could not be set up: {cause}", asked.endpoint.provider);
    let mut error = asked.error(ErrorKind::Unreachable, Place::Http, text.into());
    error.never_retry = true;
    error
}

fn retry_after(problem: &Problem, headers: &HeaderMap) -> Option<Duration> {
    let limit = match problem.kind {
        ErrorKind::RateLimit => Limit::Hit,
        ErrorKind::Overloaded | ErrorKind::Loading | ErrorKind::ServerError | ErrorKind::Timeout => Limit::PerhapsHit,
        _ => return None,
    };
    problem.retry_after.or_else(|| asked_for(headers, limit, &problem.message))
}

fn unreachable(asked: Asked<'_>, error: &reqwest::Error, cause: &str) -> ModelError {
    let Endpoint { provider, base, start, .. } = asked.endpoint;
    let address = origin(base.shown());
    let refused = has_io_kind(error, std::io::ErrorKind::ConnectionRefused);
    let local = client::is_loopback(base.shown());
    // What a server that does not know TLS answers is no message of it.
    let no_tls = base.shown().starts_with("https:") && cause.contains("InvalidContentType");
    let cause = if refused { "connection refused" } else { cause };
    let told = match start {
        _ if no_tls => Told::advising(
            format!("what answers at {address} is no TLS server"),
            format!("set base of [model_providers.{provider}] to {}", address.replacen("https:", "http:", 1)),
        ),
        Some(start) if local => {
            Told::advising(nothing_answers(&address, cause), format!("{start}, or set another model"))
        }
        None if local => Told::advising(nothing_answers(&address, cause), "start the server, or set another model"),
        Some(_) | None => {
            let advice = format!("check the network and the base address of {provider}");
            Told::advising(nothing_answers(&address, cause), advice)
        }
    };
    let mut error = asked.error(ErrorKind::Unreachable, Place::Http, told);
    // Nobody listens on this machine and never did, or the certificate is wrong: waiting changes neither. A server
    // that answered before may be starting again.
    let nobody_was_there = refused && local && !asked.endpoint.has_answered();
    error.never_retry = no_tls || nobody_was_there || cause.contains("certificate");
    error
}

fn nothing_answers(address: &str, cause: &str) -> String {
    format!("no answer from {address} ({cause})")
}

fn explain(asked: Asked<'_>, problem: &Problem, status: Option<u16>, headers: &HeaderMap) -> Told {
    let Asked { endpoint, model, key } = asked;
    let provider = &endpoint.provider;
    let said = said(problem, status);
    match problem.kind {
        ErrorKind::Auth => match key {
            Some(key) => Told::advising(format!("{provider} does not accept {key}{said}"), "put in a valid key"),
            None => Told::advising(
                format!("{provider} wants a key{said}"),
                format!("run `neco login {provider}`, or set api_key_env in [model_providers.{provider}]"),
            ),
        },
        ErrorKind::Permission => match key {
            Some(key) => format!("{provider} does not let {key} use {model}{said}").into(),
            None => format!("{provider} does not allow {model}{said}").into(),
        },
        ErrorKind::NotFound => match redirect(status, headers) {
            Some(target) => Told::advising(
                format!("{provider} has moved to {}", neco_config::without_secrets(target)),
                format!("set it as base of [model_providers.{provider}]"),
            ),
            None => not_found(asked, &said),
        },
        ErrorKind::InvalidRequest => format!("{provider} does not understand the request{said}").into(),
        ErrorKind::ContextLength => format!("the conversation is too long for {provider}/{model}{said}").into(),
        ErrorKind::RequestTooLarge => format!("the request is too large for {provider}/{model}{said}").into(),
        ErrorKind::RateLimit => format!("{provider} limits the rate{said}").into(),
        ErrorKind::Quota => {
            Told::advising(format!("the credit at {provider} is used up{said}"), "add credit or set another model")
        }
        ErrorKind::Overloaded => format!("{provider} has no room right now{said}").into(),
        ErrorKind::Loading => Told::advising(
            format!("{provider} still loads {model}{said}"),
            "network.load_timeout sets how long it may take",
        ),
        ErrorKind::ServerError => format!("{provider} failed{said}").into(),
        ErrorKind::Timeout => format!("{provider} took too long{said}").into(),
        ErrorKind::ContentFilter => format!("{provider}'s content filter refused the request{said}").into(),
        ErrorKind::StreamCut => format!("the answer of {provider} was cut off{said}").into(),
        ErrorKind::MalformedToolCall => format!("{provider}/{model} wrote a broken tool call{said}").into(),
        ErrorKind::Unreachable => format!("{provider} can't be reached{said}").into(),
        ErrorKind::AnswerTooLarge => Told::advising(
            format!("the answer of {provider}/{model} was not read to its end{said}"),
            "set another model",
        ),
    }
}

fn not_found(asked: Asked<'_>, said: &str) -> Told {
    let Asked { endpoint, model, .. } = asked;
    let provider = &endpoint.provider;
    let pull = match &endpoint.pull {
        Some(pull) => format!("get it with `{} {model}`, or ", pull),
        None => String::new(),
    };
    let text = format!("{provider} has no model {model} at {}{said}", endpoint.base.shown());
    Told::advising(text, format!("{pull}set another model"))
}

/// The vendor's words and the status, as far as there are any.
fn said(problem: &Problem, status: Option<u16>) -> String {
    let message = problem.message.trim().trim_end_matches('.');
    match (message, status) {
        ("", None) => String::new(),
        ("", Some(status)) => format!(" (HTTP {status})"),
        (message, None) => format!(": {message}"),
        (message, Some(status)) => format!(" (HTTP {status}): {message}"),
    }
}

fn redirect(status: Option<u16>, headers: &HeaderMap) -> Option<&str> {
    status.filter(|status| (300..400).contains(status))?;
    headers.get(http::header::LOCATION)?.to_str().ok()
}

fn origin(base: &str) -> String {
    reqwest::Url::parse(base).map_or_else(|_| base.to_owned(), |url| url.origin().ascii_serialization())
}

fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn has_io_kind(error: &(dyn Error + 'static), kind: std::io::ErrorKind) -> bool {
    std::iter::successors(Some(error), |error| (*error).source())
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == kind)
}

fn spoken(duration: Duration) -> String {
    if duration.as_secs() > 0 { format!("{} s", duration.as_secs()) } else { format!("{} ms", duration.as_millis()) }
}

/// Whether a limit of the rate is what stopped the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The vendor says so.
    Hit,
    /// Only if nothing is left of one: many vendors tell their limits with every answer.
    PerhapsHit,
}

/// The wait the vendor asks for: `retry-after-ms`, `retry-after` (seconds or a date), the reset of
/// the limit that was hit, or else what the message says.
pub(super) fn asked_for(headers: &HeaderMap, limit: Limit, message: &str) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    header("retry-after-ms")
        .and_then(|text| text.parse().ok())
        .and_then(|milliseconds: f64| seconds(milliseconds / 1000.0))
        .or_else(|| header("retry-after").and_then(seconds_or_date))
        .or_else(|| limit_reset(header, limit))
        .or_else(|| in_message(message))
}

/// Whether the vendor says that trying again is no use.
pub(super) fn forbidden(headers: &HeaderMap) -> bool {
    headers.get("x-should-retry").is_some_and(|value| value == "false")
}

fn seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn seconds_or_date(text: &str) -> Option<Duration> {
    if let Ok(number) = text.parse() {
        return seconds(number);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date that has passed asks for no wait; ours is taken then.
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn limit_reset<'a>(header: impl Fn(&str) -> Option<&'a str>, limit: Limit) -> Option<Duration> {
    let used_up = |name: &str| header(name).is_some_and(|left| left == "0");
    for limit in ["requests", "tokens"] {
        if used_up(&format!("x-ratelimit-remaining-{limit}")) {
            return header(&format!("x-ratelimit-reset-{limit}")).and_then(duration);
        }
    }
    let left = header("x-ratelimit-remaining").is_some_and(|left| left != "0");
    let is_hit = used_up("x-ratelimit-remaining") || (limit == Limit::Hit && !left);
    header("x-ratelimit-reset").filter(|_| is_hit).and_then(reset_time)
}

/// A duration, or a moment in seconds or milliseconds since 1970.
fn reset_time(text: &str) -> Option<Duration> {
    let Ok(number) = text.parse::<f64>() else { return duration(text) };
    let since_1970 = match number {
        number if number > 1e12 => number / 1000.0,
        number if number > 1e9 => number,
        number => return seconds(number),
    };
    let moment = SystemTime::UNIX_EPOCH.checked_add(seconds(since_1970)?)?;
    Some(moment.duration_since(SystemTime::now()).unwrap_or_default())
}

fn in_message(message: &str) -> Option<Duration> {
    let message = message.to_lowercase();
    let phrases = ["try again in ", "retry after ", "retry in "];
    phrases.into_iter().find_map(|phrase| message.split_once(phrase).and_then(|(_, rest)| duration(rest)))
}

/// Reads `20s`, `250ms`, `6m0s`, `1.5 seconds`, `7`; stops at the first thing that is none of it.
fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text.trim_start();
    let mut found = false;
    while let Some((number, after)) = leading(rest, |c| c.is_ascii_digit() || c == '.') {
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { break };
        let (unit, after) = leading(after.trim_start(), |c| c.is_ascii_alphabetic()).unwrap_or(("", after));
        total += number * unit_seconds(unit)?;
        found = true;
        rest = after;
    }
    if found { seconds(total) } else { None }
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "millisecond" | "milliseconds" => Some(0.001),
        "" | "s" | "sec" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86400.0),
        _ => None,
    }
}

/// What stands at the beginning as long as `is` holds; nothing when that is nothing.
fn leading(text: &str, is: impl Fn(char) -> bool) -> Option<(&str, &str)> {
    let end = text.find(|c| !is(c)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(begin, _)| !begin.is_empty())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn durations_as_vendors_write_them() {
        for (text, milliseconds) in [
            ("20s.", 20_000),
            ("250ms", 250),
            ("6m0s", 360_000),
            ("1.5 seconds", 1500),
            ("7 seconds.", 7000),
            ("2", 2000),
        ] {
            assert_eq!(duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(duration("soon"), None);
        assert_eq!(duration("3 attempts"), None);
    }

    #[test]
    fn the_limit_that_was_hit_counts() {
        let headers = headers(&[
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1m2s"),
        ]);
        assert_eq!(asked_for(&headers, Limit::PerhapsHit, ""), Some(Duration::from_secs(62)));
    }

    #[test]
    fn a_reset_counts_only_when_the_limit_was_hit() {
        let told = |left: &'static str| headers(&[("x-ratelimit-remaining", left), ("x-ratelimit-reset", "30")]);
        let thirty = Some(Duration::from_secs(30));
        assert_eq!(asked_for(&told("0"), Limit::PerhapsHit, ""), thirty);
        assert_eq!(asked_for(&told("17"), Limit::Hit, ""), None);
        let reset = headers(&[("x-ratelimit-reset", "30")]);
        assert_eq!(asked_for(&reset, Limit::Hit, ""), thirty);
        assert_eq!(asked_for(&reset, Limit::PerhapsHit, ""), None);
        let asked = headers(&[("x-ratelimit-reset", "30"), ("retry-after", "2")]);
        assert_eq!(asked_for(&asked, Limit::PerhapsHit, ""), Some(Duration::from_secs(2)));
    }

    #[test]
    fn a_moment_that_has_passed_asks_for_nothing() {
        let past = headers(&[("x-ratelimit-reset", "1600000000000")]);
        assert_eq!(asked_for(&past, Limit::Hit, ""), Some(Duration::ZERO));
        assert_eq!(asked_for(&headers(&[("retry-after", "-3")]), Limit::Hit, ""), None);
        assert_eq!(asked_for(&headers(&[]), Limit::Hit, "no hint"), None);
    }

    #[test]
    fn a_header_may_forbid_another_try() {
        assert!(forbidden(&headers(&[("x-should-retry", "false")])));
        assert!(!forbidden(&headers(&[("x-should-retry", "true")])));
    }
}
