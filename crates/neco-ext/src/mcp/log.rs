//! What servers print besides their messages: kept in a file that a person can open, and no bigger than it may be.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_safety::secrets::{Redactor, Scope};

/// Bytes of a log; when it is full, it becomes the old one and a new one begins.
const MOST: u64 = 512 * 1024;

/// The log of one server. Clones write to the same file.
#[derive(Clone)]
pub(super) struct ServerLog {
    path: PathBuf,
    redactor: Redactor,
    open: Arc<Mutex<Option<(File, u64)>>>,
}

/// Where the log of a server is.
pub(super) fn path(data_dir: &Path, server: &str) -> PathBuf {
    data_dir.join("mcp/logs").join(format!("{server}.log"))
}

impl ServerLog {
    /// The log of a server; nothing is opened yet.
    pub(super) fn new(data_dir: &Path, server: &str, redactor: Redactor) -> Self {
        Self { path: path(data_dir, server), redactor, open: Arc::default() }
    }

    /// Adds lines, without secrets. What can't be written is lost: a full disk stops no call.
    pub(super) fn add(&self, text: &str) {
        let text = self.redactor.redact(text, Scope::Outside);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.write(&mut open, &text) {
            tracing::debug!(%error, path = %self.path.display(), "the log of a server can't be written");
        }
    }

    /// The same with when it was said.
    pub(super) fn note(&self, text: &str) {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S");
        self.add(&format!("[{now}] {text}\n"));
    }

    fn write(&self, open: &mut Option<(File, u64)>, text: &str) -> io::Result<()> {
        if open.as_ref().is_some_and(|(_, size)| *size >= MOST) {
            *open = None;
            std::fs::rename(&self.path, self.path.with_extension("log.old"))?;
        }
        let (file, size) = match open {
            Some(open) => open,
            None => {
                self.path.parent().map_or(Ok(()), create_dir_all)?;
                let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
                let size = file.metadata()?.len();
                open.insert((file, size))
            }
        };
        *size += text.len() as u64;
        file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_two_files_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(folder.path(), "loud", Redactor::default());
        let piece = "x".repeat(100_000);
        (0..30).for_each(|_| log.add(&piece));
        let sizes =
            ["log", "log.old"].map(|end| path(folder.path(), "loud").with_extension(end).metadata().unwrap().len());
        assert!(sizes.iter().all(|size| *size <= MOST + 100_000), "{sizes:?}");
    }
}
