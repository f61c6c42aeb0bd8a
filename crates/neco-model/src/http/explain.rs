//! What a person is told when a call fails: what happened, and what to do next. Never the key.

use std::error::Error;

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

/// An answer that is not a success.
pub(crate) fn of_answer(asked: Asked<'_>, problem: &Problem, status: u16, headers: &HeaderMap) -> ModelError {
    let mut error = ModelError::new(problem.kind, Place::Http, explain(asked, problem, Some(status), headers));
    error.status = Some(status);
    error.never_retry = wait::forbidden(headers);
    error.retry_after = retry_after(problem, headers);
    error
}

/// A problem in the middle of an answer.
pub(super) fn of_stream(asked: Asked<'_>, problem: &Problem) -> ModelError {
    let headers = HeaderMap::new();
    let mut error = ModelError::new(problem.kind, Place::Stream, explain(asked, problem, None, &headers));
    error.retry_after = retry_after(problem, &headers);
    error
}

/// No byte in time.
pub(super) fn of_silence(asked: Asked<'_>, place: Place, after: std::time::Duration) -> ModelError {
    let provider = &asked.endpoint.provider;
    let text = match place {
        Place::Http => format!("{provider} sent nothing for {} (network.first_byte_timeout)", spoken(after)),
        Place::Stream => format!("{provider} fell silent for {} (network.idle_timeout)", spoken(after)),
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
    ModelError::new(ErrorKind::StreamCut, place, redact(text, asked.key))
}

/// The client itself could not be built, or the request not be formed.
pub(super) fn of_setup(asked: Asked<'_>, cause: &str) -> ModelError {
    let text = format!("the connection to {} could not be set up: {cause}", asked.endpoint.provider);
    let mut error = ModelError::new(ErrorKind::Unreachable, Place::Http, redact(text, asked.key));
    error.never_retry = true;
    error
}

fn retry_after(problem: &Problem, headers: &HeaderMap) -> Option<std::time::Duration> {
    match problem.kind {
        ErrorKind::RateLimit | ErrorKind::Overloaded | ErrorKind::ServerError => {
            problem.retry_after.or_else(|| wait::asked_for(headers, &problem.message))
        }
        ErrorKind::Auth
        | ErrorKind::Permission
        | ErrorKind::NotFound
        | ErrorKind::InvalidRequest
        | ErrorKind::ContextLength
        | ErrorKind::RequestTooLarge
        | ErrorKind::Quota
        | ErrorKind::Timeout
        | ErrorKind::ContentFilter
        | ErrorKind::StreamCut
        | ErrorKind::MalformedToolCall
        | ErrorKind::Unreachable => None,
    }
}

fn unreachable(asked: Asked<'_>, error: &reqwest::Error, cause: &str) -> ModelError {
    let Endpoint { provider, base, start, .. } = asked.endpoint;
    let address = origin(base);
    let refused = has_io_kind(error, std::io::ErrorKind::ConnectionRefused);
    let local = client::is_loopback(base);
    let cause = if refused { "connection refused" } else { cause };
    let advice = match start {
        Some(start) if local => format!("{start}, or set another model"),
        None if local => "start the server, or set another model".to_owned(),
        Some(_) | None => format!("check the network and the base address of {provider}"),
    };
    let text = format!("nothing answers at {address} ({cause}): {advice}");
    let mut error = ModelError::new(ErrorKind::Unreachable, Place::Http, redact(text, asked.key));
    // Nobody listens on this machine, or the certificate is wrong: waiting changes neither.
    error.never_retry = (refused && local) || cause.contains("certificate");
    error
}

fn explain(asked: Asked<'_>, problem: &Problem, status: Option<u16>, headers: &HeaderMap) -> String {
    let Asked { endpoint, model, key } = asked;
    let provider = &endpoint.provider;
    let said = said(problem, status);
    let text = match problem.kind {
        ErrorKind::Auth => match key {
            Some(key) => format!("{provider} does not accept {key}{said}; put in a valid key"),
            None => format!(
                "{provider} wants a key{said}: run `neco auth set {provider}`, or set api_key_env in [model_providers.{provider}]"
            ),
        },
        ErrorKind::Permission => match key {
            Some(key) => format!("{provider} does not let {key} use {model}{said}"),
            None => format!("{provider} does not allow {model}{said}"),
        },
        ErrorKind::NotFound => match redirect(status, headers) {
            Some(target) => format!("{provider} has moved to {target}: set it as base of [model_providers.{provider}]"),
            None => not_found(asked, &said),
        },
        ErrorKind::InvalidRequest => format!("{provider} does not understand the request{said}"),
        ErrorKind::ContextLength => format!("the conversation is too long for {provider}/{model}{said}"),
        ErrorKind::RequestTooLarge => format!("the request is too large for {provider}/{model}{said}"),
        ErrorKind::RateLimit => format!("{provider} limits the rate{said}"),
        ErrorKind::Quota => format!("the credit at {provider} is used up{said}; add credit or set another model"),
        ErrorKind::Overloaded => format!("{provider} has no room right now{said}"),
        ErrorKind::ServerError => format!("{provider} failed{said}"),
        ErrorKind::Timeout => format!("{provider} took too long{said}"),
        ErrorKind::ContentFilter => format!("{provider}'s content filter refused the request{said}"),
        ErrorKind::StreamCut => format!("the answer of {provider} was cut off{said}"),
        ErrorKind::MalformedToolCall => format!("{provider}/{model} wrote a broken tool call{said}"),
        ErrorKind::Unreachable => format!("{provider} can't be reached{said}"),
    };
    redact(text, key)
}

fn not_found(asked: Asked<'_>, said: &str) -> String {
    let Asked { endpoint, model, .. } = asked;
    let provider = &endpoint.provider;
    let pull = match &endpoint.pull {
        Some(pull) => format!("get it with `{} {model}`, or ", pull),
        None => String::new(),
    };
    format!("{provider} has no model {model} at {}{said}: {pull}set another model", without_login(&endpoint.base))
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

/// Takes the key out of a text, also where a vendor shows only its beginning or stars in it.
fn redact(text: String, key: Option<&Key>) -> String {
    match key {
        Some(key) => key.redact(&text),
        None => text,
    }
}

/// Some people write user and password into the address.
pub(crate) fn without_login(base: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(base) else { return base.to_owned() };
    if url.username().is_empty() && url.password().is_none() {
        return base.to_owned();
    }
    match url.set_username("").and_then(|()| url.set_password(None)) {
        Ok(()) => url.to_string(),
        Err(()) => origin(base),
    }
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

fn spoken(duration: std::time::Duration) -> String {
    if duration.as_secs() > 0 { format!("{} s", duration.as_secs()) } else { format!("{} ms", duration.as_millis()) }
}
