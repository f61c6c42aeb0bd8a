//! Why a model did not answer.

use std::time::Duration;

use neco_proto::ErrorCode;

/// What kind of failure, the same for all vendors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The key is wrong or missing.
    Auth,
    /// The key may not do this.
    Permission,
    /// No such model or address.
    NotFound,
    /// The vendor does not understand the request.
    InvalidRequest,
    /// The conversation does not fit the model.
    ContextLength,
    /// The request has too many bytes.
    RequestTooLarge,
    /// Too many requests or tokens for now.
    RateLimit,
    /// No credit left.
    Quota,
    /// The vendor has no room for now.
    Overloaded,
    /// The server answers, but still loads its model.
    Loading,
    /// The vendor failed.
    ServerError,
    /// No byte came in time.
    Timeout,
    /// The vendor's filter refused the request.
    ContentFilter,
    /// The stream ended without its end mark.
    StreamCut,
    /// The vendor says that the model wrote a call that is none.
    MalformedToolCall,
    /// Nobody answers at the address.
    Unreachable,
    /// The answer, or a piece of it, is larger than any real one.
    AnswerTooLarge,
}

/// Where it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the answer began.
    Http,
    /// In the middle of the answer.
    Stream,
}

/// Why a model did not answer. The text never holds a key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}{}", advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default())]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// Where.
    pub place: Place,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// How long the vendor asks to wait.
    pub retry_after: Option<Duration>,
    /// Whether the vendor says that trying again is no use, whatever the kind.
    pub never_retry: bool,
    /// What happened, for a person.
    pub message: String,
    /// What to do about it, where that is known. No use to anyone when something else is asked next.
    pub advice: Option<String>,
}

impl ModelError {
    /// An error of `kind` with nothing else known.
    pub fn new(kind: ErrorKind, place: Place, message: impl Into<String>) -> Self {
        Self { kind, place, status: None, retry_after: None, never_retry: false, message: message.into(), advice: None }
    }

    /// Whether the same request can succeed later.
    pub fn retryable(&self) -> bool {
        !self.never_retry && self.kind.nature().1
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.kind.nature().0
    }
}

impl ErrorKind {
    /// Its stable code, and whether the same request usually succeeds later.
    fn nature(self) -> (ErrorCode, bool) {
        match self {
            Self::Auth | Self::Permission => (ErrorCode::NotAuthorised, false),
            Self::ContextLength | Self::RequestTooLarge => (ErrorCode::ContextTooLong, false),
            Self::Quota => (ErrorCode::BudgetUsedUp, false),
            Self::ContentFilter => (ErrorCode::AnswerRefused, false),
            Self::AnswerTooLarge => (ErrorCode::AnswerTooLong, false),
            Self::NotFound | Self::InvalidRequest => (ErrorCode::RequestRefused, false),
            Self::RateLimit => (ErrorCode::RateLimited, true),
            Self::Timeout => (ErrorCode::ModelTimedOut, true),
            Self::Overloaded | Self::Loading | Self::ServerError => (ErrorCode::ProviderUnavailable, true),
            Self::StreamCut | Self::Unreachable => (ErrorCode::ProviderUnavailable, true),
            Self::MalformedToolCall => (ErrorCode::BrokenCall, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_model_that_is_not_had_is_out_of_reach() {
        for (kind, code) in [
            (ErrorKind::Unreachable, ErrorCode::ProviderUnavailable),
            (ErrorKind::StreamCut, ErrorCode::ProviderUnavailable),
            (ErrorKind::ServerError, ErrorCode::ProviderUnavailable),
            (ErrorKind::MalformedToolCall, ErrorCode::BrokenCall),
            (ErrorKind::AnswerTooLarge, ErrorCode::AnswerTooLong),
        ] {
            let error = ModelError::new(kind, Place::Stream, "x");
            assert_eq!((error.code(), error.retryable()), (code, code.retryable()), "{kind:?}");
        }
    }
}
