//! Which sessions a server holds, in a file: one that comes after a crash finds there those that were at work.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::SessionId;

use super::access::{read_private, write_private};

/// The file, in the folder of the server; a server that ends of its own accord removes it.
const FILE: &str = "held.json";

/// The sessions of this server, and those of the one before.
#[derive(Clone)]
pub(crate) struct Left {
    file: PathBuf,
    /// Those that a server held which ended without a word, until they are back. Held by whoever just writes.
    before: Arc<Mutex<Vec<SessionId>>>,
}

impl Left {
    /// Reads what was left in a folder; what can't be read names nothing.
    pub fn of(folder: &Path) -> Self {
        let file = folder.join(FILE);
        let read = read_private(&file).and_then(|text| match text {
            Some(text) => serde_json::from_str(&text).map_err(io::Error::other),
            None => Ok(Vec::new()),
        });
        let read = read.inspect_err(|error| tracing::warn!(%error, "the sessions of the server before are not known"));
        Self { file, before: Arc::new(Mutex::new(read.unwrap_or_default())) }
    }

    /// The sessions that the server before held.
    pub fn before(&self) -> Vec<SessionId> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those are back that can be.
    pub fn are_back(&self) {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Writes down those that are held when it is written: whoever comes later writes the newer ones.
    pub async fn write(&self, held: impl FnOnce() -> Vec<SessionId> + Send + 'static) {
        let own = self.clone();
        let written = tokio::task::spawn_blocking(move || {
            let before = own.before.lock().unwrap_or_else(PoisonError::into_inner);
            let all: Vec<SessionId> = held().into_iter().chain(before.iter().copied()).collect();
            write_private(&own.file, &serde_json::to_vec(&all)?)
        });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "the sessions that are held could not be written down");
        }
    }

    /// Nothing is left to be found: this server ends as it should.
    pub fn forget(&self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
