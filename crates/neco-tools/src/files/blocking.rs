//! Work on files, away from the threads that must not wait.

use neco_toolkit::{ToolContext, ToolError};

/// Runs work that only looks. When the call is cancelled its result is not waited for; the work
/// itself ends as soon as it sees the same signal.
///
/// # Errors
/// What the work says, or that it was cancelled.
pub async fn look<T: Send + 'static>(
    ctx: &ToolContext,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => Err(cancelled()),
        result = change(work) => result,
    }
}

/// Runs work that changes something: it is waited for whatever happens, so that what is reported is what was done.
///
/// # Errors
/// What the work says.
pub async fn change<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(_) => Err(ToolError::failed("the tool broke off unexpectedly; nothing more is known")),
    }
}

/// What a cancelled call says.
#[must_use]
pub fn cancelled() -> ToolError {
    ToolError::failed("the call was cancelled")
}
