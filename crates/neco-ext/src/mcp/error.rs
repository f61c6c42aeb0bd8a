//! Why nothing came of what was wanted of a server.

use std::time::Duration;

use neco_proto::ErrorCode;
use neco_toolkit::ToolError;

/// Why nothing came of what was wanted of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum McpError {
    /// The settings have no server of this name.
    #[error("there is no MCP server {0:?}; `neco mcp list` shows those there are")]
    NotFound(String),
    /// It is switched off.
    #[error("the MCP server {0} is disabled; `neco mcp enable {0}` switches it on")]
    Disabled(String),
    /// It can't be reached.
    #[error("can't connect to the MCP server {server}: {why}")]
    Connection { server: String, why: String },
    /// It wants a login.
    #[error("the MCP server {0} wants you to log in; run `neco mcp login {0}`")]
    NeedsLogin(String),
    /// It gave no sign of life.
    #[error("the MCP server {server} gave no sign of life for {} s", after.as_secs())]
    Silent { server: String, after: Duration },
    /// It ended before it answered.
    #[error(
        "the MCP server {server} ended before it answered{}; what it was doing may be half done",
        words_of(printed.as_deref())
    )]
    Ended { server: String, printed: Option<String> },
    /// It refused what was wanted.
    #[error("the MCP server {server} refused: {why}")]
    Refused { server: String, why: String },
    /// The call was stopped.
    #[error("the call was stopped")]
    Stopped,
}

impl McpError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound(_) => ErrorCode::ServerNotFound,
            Self::Disabled(_) => ErrorCode::ServerDisabled,
            Self::Connection { .. } | Self::NeedsLogin(_) => ErrorCode::ServerUnreachable,
            Self::Silent { .. } => ErrorCode::ToolTimedOut,
            Self::Ended { .. } | Self::Refused { .. } | Self::Stopped => ErrorCode::ToolFailed,
        }
    }
}

/// What a server printed last, in words that follow others.
fn words_of(printed: Option<&str>) -> String {
    printed.map(|printed| format!("; it printed: {printed}")).unwrap_or_default()
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
