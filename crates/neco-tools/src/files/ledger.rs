//! What one agent knows of files: which it has read or written, and in which state.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use neco_proto::ErrorCode;
use neco_safety::path::Stamp;
use neco_toolkit::ToolError;
use sha2::{Digest, Sha256};

/// Files up to this size are known by their content, bigger ones by their stamp alone.
pub const HASHED: u64 = 8 * 1024 * 1024;

/// What one agent knows of files. Shared by its tools.
#[derive(Debug, Default)]
pub struct Ledger {
    known: Mutex<HashMap<PathBuf, Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    stamp: Stamp,
    hash: Option<[u8; 32]>,
    mark: Option<Mark>,
}

/// A line of a big file and where it begins, so that reading on does not start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The line, counted from zero.
    pub line: u64,
    /// Its first byte.
    pub offset: u64,
}

impl Ledger {
    /// Remembers a file that was read or written as a whole.
    pub fn know(&self, path: &Path, stamp: Stamp, content: &[u8]) {
        let hash = (content.len() as u64 <= HASHED).then(|| hash(content));
        self.put(path, Known { stamp, hash, mark: None });
    }

    /// Remembers a file that was too big to be read as a whole, and where reading stopped.
    pub fn know_part(&self, path: &Path, stamp: Stamp, mark: Option<Mark>) {
        self.put(path, Known { stamp, hash: None, mark });
    }

    /// Where reading stopped, if the file is still the same.
    #[must_use]
    pub fn mark(&self, path: &Path, stamp: &Stamp) -> Option<Mark> {
        self.get(path).filter(|known| known.stamp == *stamp)?.mark
    }

    /// Whether a file may be changed: it was read, and it is as it was then.
    ///
    /// # Errors
    /// When it was not read, or has another content since.
    pub fn check(&self, path: &Path, shown: &str, stamp: &Stamp, content: &[u8]) -> Result<(), ToolError> {
        let Some(known) = self.get(path) else {
            return Err(ToolError::failed(format!(
                "{shown} exists but you have not read it; read it first with read_file, then change it"
            )));
        };
        let same = known.hash.map_or(known.stamp == *stamp, |known| known == hash(content));
        if same {
            return Ok(());
        }
        Err(ToolError::new(
            ErrorCode::FileChanged,
            format!(
                "{shown} was changed since you last read it; read it again, then make the change to what is there now"
            ),
        ))
    }

    fn get(&self, path: &Path) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn put(&self, path: &Path, known: Known) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), known);
    }
}

fn hash(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}
