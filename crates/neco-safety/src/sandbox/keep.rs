//! What must stay until a box is gone, and what is put right then.

use std::fs;
use std::path::PathBuf;

use super::masks::MaskGuard;

/// Dropped when nothing runs in the box any more.
#[derive(Debug)]
pub(crate) struct Keep {
    _masks: MaskGuard,
    unwanted: Vec<PathBuf>,
}

impl Keep {
    pub(super) fn new(masks: MaskGuard, unwanted: Vec<PathBuf>) -> Self {
        Self { _masks: masks, unwanted }
    }
}

impl Drop for Keep {
    /// What was made although it leads git to other settings goes again: nobody but the command made it.
    fn drop(&mut self) {
        for path in &self.unwanted {
            let Ok(found) = fs::symlink_metadata(path) else { continue };
            let removed = if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            tracing::warn!(path = %path.display(), ok = removed.is_ok(), "a command made a file that leads git elsewhere; it was removed");
        }
    }
}
