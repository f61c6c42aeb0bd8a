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

    /// Of those before only these are left: the others were not at work.
    pub fn keep_only(&self, left: &[SessionId]) {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| left.contains(id));
    }

    /// One of those before is back, or can't be.
    pub fn is_back(&self, id: SessionId) {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).retain(|before| *before != id);
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

    /// Nothing of this server is left to be found: it ends as it should. Those before that are not back are.
    pub fn forget(&self) {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let forgotten = match before.is_empty() {
            true => std::fs::remove_file(&self.file),
            false => {
                serde_json::to_vec(&*before).map_err(io::Error::other).and_then(|all| write_private(&self.file, &all))
            }
        };
        if let Err(error) = forgotten
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "which sessions are held stays written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_crash_left_stays_written_down_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two, three] = [(); 3].map(|()| SessionId::new());
        let crashed = Left::of(folder.path());
        crashed.write(move || vec![one, two, three]).await;
        let left = Left::of(folder.path());
        left.keep_only(&[one, two]);
        left.is_back(one);
        left.write(move || vec![one]).await;
        left.forget();
        let next = Left::of(folder.path());
        assert_eq!(next.before(), [two], "the server ended before it was back");
        next.is_back(two);
        next.forget();
        assert!(!folder.path().join(FILE).exists());
    }
}
