//! What a person sees while the index is built, and how they stop it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neco_proto::event::OutputStream;
use neco_toolkit::{LiveOutput, ToolContext, ToolError};
use neco_workspace::index::{IndexError, Watch};
use tokio_util::sync::CancellationToken;

use crate::files::call::cancelled;

/// Shorter work than this is not worth a word.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells the person who waits for a call how far the index is.
pub struct Progress {
    live: Arc<dyn LiveOutput>,
    cancel: CancellationToken,
    told: Mutex<Instant>,
}

impl Progress {
    /// Of a call.
    pub fn of(ctx: &ToolContext) -> Self {
        Self { live: Arc::clone(&ctx.live), cancel: ctx.cancel.clone(), told: Mutex::new(Instant::now()) }
    }
}

impl Watch for Progress {
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn progress(&self, done: usize, total: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= PAUSE {
            *told = Instant::now();
            self.live.push(OutputStream::Output, &format!("indexed {done} of {total} files\n"));
        }
    }

    fn waiting(&self) {
        self.live.push(OutputStream::Output, "waiting for another process that indexes this folder\n");
    }
}

/// What a call says when the index could not answer.
pub fn failed(error: IndexError) -> ToolError {
    match error {
        IndexError::Cancelled => cancelled(),
        IndexError::Damaged | IndexError::Io(_) => ToolError::failed(format!("{error}; use grep and glob instead")),
    }
}
