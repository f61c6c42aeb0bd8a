//! The indexes of a process: one for each workspace that its agents work in.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neco_proto::event::OutputStream;
use neco_safety::path::Access;
use neco_safety::world::Files;
use neco_toolkit::{LiveOutput, ToolContext, ToolError};
use neco_workspace::index::{Index, IndexError, Watch};
use tokio_util::sync::CancellationToken;

use crate::files::call::cancelled;

/// The indexes of a process. Cheap to have: nothing is opened before it is asked for.
#[derive(Debug)]
pub struct Indexes {
    folder: PathBuf,
    open: Mutex<HashMap<PathBuf, Arc<Index>>>,
}

impl Indexes {
    /// Indexes that are kept below a folder.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, open: Mutex::default() }
    }

    /// The index of a workspace.
    pub fn of(&self, files: &Files) -> Result<Arc<Index>, ToolError> {
        let root = files.locate(".", Access::Read)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let path = root.path().to_path_buf();
        let index = open.entry(path).or_insert_with(|| Arc::new(Index::new(&self.folder, root).followed()));
        Ok(Arc::clone(index))
    }
}

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
