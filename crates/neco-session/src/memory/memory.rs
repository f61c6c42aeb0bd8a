//! The memory as work in one folder sees it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use neco_safety::policy::Telling;
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::{Policy, invisible};
use neco_store::MemoryIndex;
use neco_store::recall::IndexError;

use super::folder::Folder;
use super::guessed::without_guessed;

/// The file of the index in the data folder.
const INDEX_FILE: &str = "memory.db";

/// The present time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What a memory is made of.
pub struct MemorySetup {
    /// The folder of everything that is kept.
    pub data_dir: PathBuf,
    /// The folder that is worked in, resolved.
    pub cwd: PathBuf,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
    /// The clock.
    pub now: Now,
    /// Judges which entries of folders may be told.
    pub telling: Telling,
}

impl MemorySetup {
    /// A memory with the clock of this machine.
    #[must_use]
    pub fn new(data_dir: &Path, cwd: &Path, redactor: Redactor) -> Self {
        Self {
            data_dir: data_dir.to_owned(),
            cwd: cwd.to_owned(),
            redactor,
            now: Arc::new(Timestamp::now),
            telling: Policy::default().telling(),
        }
    }
}

/// The memory as work in one folder sees it: the person's own entries, and those of the folder and of
/// the folders above it. Making one costs nothing; the index is opened when it is first needed.
pub struct Memory {
    pub(super) data_dir: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) redactor: Redactor,
    pub(super) telling: Telling,
    pub(super) index: MemoryIndex,
    now: Now,
}

/// Why the memory did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// There is no such entry.
    #[error("there is no entry {id:?}{}", near_words(.near))]
    Unknown {
        /// What was asked for.
        id: String,
        /// Ids that look like it.
        near: Vec<String>,
    },
    /// What is to be kept says nothing, or too much.
    #[error("{0}")]
    Refused(String),
    /// A file can't be read or written.
    #[error("{0}")]
    File(String),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

fn near_words(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

impl Memory {
    /// A memory.
    #[must_use]
    pub fn new(setup: MemorySetup) -> Self {
        Self {
            index: MemoryIndex::new(setup.data_dir.join(INDEX_FILE)),
            data_dir: setup.data_dir,
            cwd: setup.cwd,
            redactor: setup.redactor,
            telling: setup.telling,
            now: setup.now,
        }
    }

    /// The folder that is worked in.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The person's own entries.
    pub fn global_folder(&self) -> Folder {
        Folder::global(&self.data_dir)
    }

    /// The entries of the folder that is worked in.
    #[must_use]
    pub fn own_folder(&self) -> Folder {
        Folder::of_directory(&self.cwd)
    }

    /// Every folder whose entries are seen: the person's own first, then the one that is worked in
    /// and those above it. A git repository is not left; outside of one only the folder itself
    /// counts, as the folders above it may be anybody's.
    #[must_use]
    pub fn folders(&self) -> Vec<Folder> {
        let global = self.global_folder();
        let root = self.cwd.ancestors().position(|folder| folder.join(".git").exists());
        let near = self.cwd.ancestors().take(root.map_or(1, |root| root + 1)).map(Folder::of_directory);
        // With a data folder that is called `.neco` both are the same.
        let near: Vec<Folder> = near.filter(|folder| folder.path() != global.path()).collect();
        std::iter::once(global).chain(near).collect()
    }

    /// Closes the index, if it is open.
    pub async fn close(&self) {
        self.index.close().await;
    }

    /// A text of the memory as it may leave it: people write files by hand, and not everything in them is
    /// for a model.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let seen = invisible::seen(text);
        without_guessed(&self.redactor.redact(&seen.text, Scope::Outside))
    }

    /// Milliseconds since 1970.
    pub(super) fn now_ms(&self) -> i64 {
        (self.now)().as_millisecond()
    }

    /// Nanoseconds since 1970.
    pub(super) fn now_ns(&self) -> i64 {
        i64::try_from((self.now)().as_nanosecond()).unwrap_or(i64::MAX)
    }
}

/// Does something with files away from the async runtime.
pub(super) async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, MemoryError> + Send + 'static,
) -> Result<T, MemoryError> {
    tokio::task::spawn_blocking(act).await.map_err(|error| MemoryError::File(error.to_string()))?
}
