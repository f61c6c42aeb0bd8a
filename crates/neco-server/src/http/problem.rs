//! What is answered when something can't be had: RFC 9457.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use neco_proto::app::{AppError, Trouble};
use neco_proto::{ClientError, ErrorCode};
use serde::Serialize;
use serde_json::{Value, json};

/// Why a request was not done.
#[derive(Debug)]
pub(crate) struct Problem {
    pub status: StatusCode,
    error: AppError,
}

impl Problem {
    /// With words of the server itself.
    pub fn new(status: StatusCode, words: impl Into<String>) -> Self {
        let trouble = match status {
            StatusCode::NOT_FOUND => Trouble::NotFound,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Trouble::NotAllowed,
            StatusCode::CONFLICT => Trouble::InUse,
            status if status.is_client_error() => Trouble::Invalid,
            _ => Trouble::Failed,
        };
        Self { status, error: AppError::new(trouble, words) }
    }

    /// Why, for people.
    pub fn words(&self) -> &str {
        &self.error.message
    }

    /// A request that can't be read.
    pub fn bad(words: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, words)
    }
}

impl From<Problem> for AppError {
    fn from(problem: Problem) -> Self {
        problem.error
    }
}

impl From<AppError> for Problem {
    fn from(error: AppError) -> Self {
        let status = match error.trouble {
            _ if error.code == Some(ErrorCode::ServerEnding) => StatusCode::SERVICE_UNAVAILABLE,
            Trouble::Invalid => StatusCode::BAD_REQUEST,
            Trouble::NotFound => StatusCode::NOT_FOUND,
            Trouble::NotAllowed => StatusCode::FORBIDDEN,
            Trouble::InUse => StatusCode::CONFLICT,
            Trouble::NoModel => StatusCode::SERVICE_UNAVAILABLE,
            Trouble::Unsupported => StatusCode::NOT_IMPLEMENTED,
            Trouble::Gone => StatusCode::GONE,
            Trouble::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, error }
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        let status = match &error {
            ClientError::Gone => StatusCode::GONE,
            ClientError::Refused(_) => StatusCode::CONFLICT,
            ClientError::Failed { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, error: error.into() }
    }
}

impl Problem {
    /// As it is answered.
    pub fn answer(self) -> Answer {
        let Self { status, error } = self;
        let again = match status {
            StatusCode::SERVICE_UNAVAILABLE if error.code.is_some_and(ErrorCode::retryable) => Some(1),
            // What is counted is counted by the minute.
            StatusCode::TOO_MANY_REQUESTS => Some(60),
            _ => None,
        };
        let mut body = json!({
            "type": format!("urn:neco:{}", json!(error.trouble).as_str().unwrap_or("failed")),
            "title": status.canonical_reason().unwrap_or("Error"),
            "status": status.as_u16(),
            "detail": error.message,
        });
        if let (Some(all), Value::Object(error)) = (body.as_object_mut(), json!(error)) {
            all.extend(error.into_iter().filter(|(name, _)| name != "message"));
        }
        Answer { status, kind: "application/problem+json", body: body.to_string().into(), again }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.answer().into_response()
    }
}

/// What is answered, small enough to be kept.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub status: StatusCode,
    pub kind: &'static str,
    pub body: Bytes,
    /// After how many seconds the same can be asked again.
    pub again: Option<u8>,
}

impl Answer {
    /// A value as JSON.
    pub fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value);
        let body = body.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(Self { status, kind: "application/json", body: body.into(), again: None })
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        if let Some(seconds) = self.again {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(u16::from(seconds)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
