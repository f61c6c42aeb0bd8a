//! Why a scripted tool did not do its work.

use std::io;
use std::time::Duration;

use neco_config::section::ScriptType;
use neco_proto::ErrorCode;
use neco_safety::world::SpawnError;
use neco_toolkit::ToolError;

/// Why a call of a scripted tool failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    #[error(
        "{tool} needs {needs} to run, which is not in the PATH of commands; {}; go on without {tool}",
        advice(*.kind)
    )]
    NoInterpreter { tool: String, needs: &'static str, kind: ScriptType },
    #[error("{tool} could not be started: {error}; run `neco doctor` to see what commands run in")]
    Start { tool: String, error: SpawnError },
    #[error("{tool} could not be started: {error}")]
    Prepare { tool: String, error: io::Error },
    #[error(
        "{path} is not the module any more that {tool} was found with; it is taken up, and asked about where it is a \
         project's, with the next message"
    )]
    Changed { tool: String, path: String },
    #[error(
        "{tool} was stopped at its limit of {} s; let it do less at once, or have the user give it a longer `timeout` \
         where it is defined ({file})",
        .limit.as_secs_f64()
    )]
    TimedOut { tool: String, file: String, limit: Duration },
    #[error("{tool} was cancelled")]
    Cancelled { tool: String },
}

impl ScriptError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::TimedOut { .. } => ErrorCode::CommandTimedOut,
            Self::Start { error, .. } => error.code(),
            Self::NoInterpreter { .. } | Self::Prepare { .. } | Self::Changed { .. } | Self::Cancelled { .. } => {
                ErrorCode::ToolFailed
            }
        }
    }
}

impl From<ScriptError> for ToolError {
    fn from(error: ScriptError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// How a person gets what runs a kind of script.
fn advice(kind: ScriptType) -> &'static str {
    match kind {
        ScriptType::Shell => "the user can install a shell",
        ScriptType::Python => "the user can install Python 3",
        ScriptType::Javascript => "the user can install Node.js",
        ScriptType::Wasm => {
            "the user can put the program neco-wasm beside neco or into the PATH: `cargo build --release` in the \
             folder `wasm` of Neco's source makes it"
        }
    }
}
