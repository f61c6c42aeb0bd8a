//! Why something an editor asked for can't be had, as the protocol says it.

use agent_client_protocol::Error;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{ClientError, ErrorCode};

/// The protocol's own numbers.
const AUTH_REQUIRED: i32 = -32000;
const NOT_FOUND: i32 = -32002;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;

/// What the program could not do. An editor shows the words.
pub(crate) fn of_app(error: AppError) -> Error {
    let needs_key = matches!(error.code, Some(ErrorCode::NotAuthorised));
    let number = match error.trouble {
        Trouble::NoModel => AUTH_REQUIRED,
        _ if needs_key => AUTH_REQUIRED,
        Trouble::NotFound => NOT_FOUND,
        Trouble::Invalid => INVALID_PARAMS,
        Trouble::NotAllowed | Trouble::InUse | Trouble::Unsupported | Trouble::Gone | Trouble::Failed => INTERNAL,
    };
    Error::new(number, error.words())
}

/// What a session did not do.
pub(crate) fn of_client(error: ClientError) -> Error {
    of_app(AppError::from(error))
}

/// A session that the editor has not opened.
pub(crate) fn no_session(id: &str) -> Error {
    Error::new(NOT_FOUND, format!("there is no open session {id}; session/load or session/resume opens one"))
}

/// A request that makes no sense.
pub(crate) fn invalid(words: impl Into<String>) -> Error {
    Error::new(INVALID_PARAMS, words)
}

/// Work that failed, with what the person was told of it.
pub(crate) fn of_work(code: Option<ErrorCode>, words: &str) -> Error {
    let number = if code == Some(ErrorCode::NotAuthorised) { AUTH_REQUIRED } else { INTERNAL };
    Error::new(number, words)
}
