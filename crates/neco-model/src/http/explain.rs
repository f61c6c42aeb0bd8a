//! What a person is told when a call fails: what happened, and what to do next. Never the key.

use std::error::Error;
use std::time::Duration;

use http::HeaderMap;

use super::{client, wait};
use crate::error::{ErrorKind, ModelError, Place};
use crate::route::{Endpoint, Key};
use crate::wire::format::Problem;

/// Who was asked, and with what.
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
    error.never_retry = wait::forbidden(headers);
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

/// The client itself could not be built, or the request not be formed.
pub(super) fn of_setup(asked: Asked<'_>, cause: &str) -> ModelError {
    let text = format!("the connection to {} could not be set up: {cause}", asked.endpoint.provider);
    let mut error = asked.error(ErrorKind::Unreachable, Place::Http, text.into());
    error.never_retry = true;
    error
}

fn retry_after(problem: &Problem, headers: &HeaderMap) -> Option<Duration> {
    let limit = match problem.kind {
        ErrorKind::RateLimit => wait::Limit::Hit,
        ErrorKind::Overloaded | ErrorKind::Loading | ErrorKind::ServerError | ErrorKind::Timeout => {
            wait::Limit::PerhapsHit
        }
        _ => return None,
    };
    problem.retry_after.or_else(|| wait::asked_for(headers, limit, &problem.message))
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
    format!("nothing answers at {address} ({cause})")
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
                format!("run `neco auth set {provider}`, or set api_key_env in [model_providers.{provider}]"),
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
