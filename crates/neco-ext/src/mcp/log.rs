//! What servers print besides their messages: kept in a file that a person can open, and no bigger than it may be.

use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use neco_safety::secrets::{Redactor, Scope};
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// Bytes of a log; when it is full, it becomes the old one and a new one begins.
const MOST: u64 = 512 * 1024;

/// Bytes that may wait for a slow disk; what comes while there are more is left out.
const MOST_WAITING: usize = 64 * 1024;

/// How long is waited for a slow disk at the end.
const SOON: Duration = Duration::from_secs(1);

/// The log of one server. Clones write to the same file; a thread that may wait for the disk does that.
#[derive(Clone)]
pub(super) struct ServerLog(Arc<Inner>);

struct Inner {
    path: PathBuf,
    redactor: Redactor,
    waiting: Mutex<Waiting>,
    /// Nothing waits any more.
    written: Notify,
    open: Mutex<Option<(File, u64)>>,
}

/// What is not written yet.
#[derive(Default)]
struct Waiting {
    text: String,
    /// Bytes that were left out.
    lost: usize,
    /// Whether somebody writes it.
    is_written: bool,
}

/// Where the log of a server is.
pub(super) fn path(data_dir: &Path, server: &str) -> PathBuf {
    data_dir.join("mcp/logs").join(format!("{server}.log"))
}

impl ServerLog {
    /// The log of a server; nothing is opened yet.
    pub(super) fn new(data_dir: &Path, server: &str, redactor: Redactor) -> Self {
        let (waiting, written, open) = (Mutex::default(), Notify::new(), Mutex::default());
        Self(Arc::new(Inner { path: path(data_dir, server), redactor, waiting, written, open }))
    }

    /// Adds lines, without secrets. What can't be written is lost: neither a full disk nor a slow one stops a call.
    pub(super) fn add(&self, text: &str) {
        // Cut afterwards: half a secret would not be known for one.
        let text = self.0.redactor.redact(text, Scope::Outside);
        let (text, rest) = text.split_at(text.floor_char_boundary(MOST_WAITING));
        let mut waiting = self.0.waiting();
        waiting.lost += rest.len();
        if waiting.text.len() + text.len() > MOST_WAITING && !waiting.text.is_empty() {
            waiting.lost += text.len();
            return;
        }
        waiting.text.push_str(text);
        if waiting.text.is_empty() || std::mem::replace(&mut waiting.is_written, true) {
            return;
        }
        drop(waiting);
        let inner = Arc::clone(&self.0);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || inner.write_all())),
            Err(_) => inner.write_all(),
        }
    }

    /// The same with when it was said.
    pub(super) fn note(&self, text: &str) {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M:%S");
        self.add(&format!("[{now}] {text}\n"));
    }

    /// Ready when everything is in the file, or the disk is too slow for that.
    pub(super) async fn written(&self) {
        let all = async {
            loop {
                let written = self.0.written.notified();
                tokio::pin!(written);
                written.as_mut().enable();
                if !self.0.waiting().is_written {
                    return;
                }
                written.await;
            }
        };
        let _ = tokio::time::timeout(SOON, all).await;
    }
}

impl Inner {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, until nothing does.
    fn write_all(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let mut waiting = self.waiting();
            if waiting.text.is_empty() {
                waiting.is_written = false;
                drop(waiting);
                return self.written.notify_waiters();
            }
            let (mut text, lost) = (std::mem::take(&mut waiting.text), std::mem::take(&mut waiting.lost));
            drop(waiting);
            if lost > 0 {
                text.push_str(&format!("\n[{lost} bytes came too fast and are left out]\n"));
            }
            if let Err(error) = self.write(&mut open, &text) {
                tracing::debug!(%error, path = %self.path.display(), "the log of a server can't be written");
            }
        }
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

    fn sizes(data_dir: &Path) -> [u64; 2] {
        ["log", "log.old"].map(|end| path(data_dir, "loud").with_extension(end).metadata().unwrap().len())
    }

    #[test]
    fn a_flood_leaves_two_files_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(folder.path(), "loud", Redactor::default());
        let piece = "x".repeat(100_000);
        (0..30).for_each(|_| log.add(&piece));
        let sizes = sizes(folder.path());
        assert!(sizes.iter().all(|size| *size <= MOST + 100_000), "{sizes:?}");
    }

    #[tokio::test]
    async fn what_is_added_is_written_aside_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(folder.path(), "loud", Redactor::default());
        (0..1000).for_each(|number| log.clone().add(&format!("{number}\n")));
        log.written().await;
        let text = std::fs::read_to_string(path(folder.path(), "loud")).unwrap();
        assert_eq!(text, (0..1000).map(|number| format!("{number}\n")).collect::<String>());
        log.written().await;
    }

    #[test]
    fn what_waits_for_a_slow_disk_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = ServerLog::new(folder.path(), "loud", Redactor::default());
        // Somebody writes, and is not done with it.
        log.0.waiting().is_written = true;
        (0..1000).for_each(|_| log.add(&"x".repeat(1000)));
        assert!(log.0.waiting().text.len() <= MOST_WAITING);
        log.0.write_all();
        let text = std::fs::read_to_string(path(folder.path(), "loud")).unwrap();
        assert!(text.ends_with("bytes came too fast and are left out]\n"), "{} bytes", text.len());
        log.0.waiting().is_written = false;
    }
}
