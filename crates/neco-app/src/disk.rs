//! The disk that sessions are kept on: whether it is full, what helps then, and a copy where nothing can be written.

use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::io::Write as _;
use std::path::Path;

use neco_store::SqliteStore;

use crate::services::STORE_FILE;

/// What is said when not even something can be removed.
pub const NO_ROOM: &str =
    "The disk is so full that nothing can be removed either: make a little room on it, 1 MB will do, and try again.";

/// Whether something can be written in a folder.
pub fn has_room(folder: &Path) -> bool {
    try_out(folder).is_ok()
}

/// Writes about what the store needs to be opened.
fn try_out(folder: &Path) -> std::io::Result<()> {
    tempfile::tempfile_in(folder)?.write_all(&[0; 64 << 10])
}

/// Whether the disk of a folder is full, and not only closed to us.
pub fn is_full(folder: &Path) -> bool {
    matches!(try_out(folder), Err(error) if matches!(error.kind(), StorageFull | QuotaExceeded))
}

/// What helps when the store could not be written or read: what does on this disk, as it is now.
pub fn store_advice(data_dir: &Path) -> &'static str {
    match (is_full(data_dir), SqliteStore::can_make_room(&data_dir.join(STORE_FILE))) {
        (false, _) => "Look at the free space and permissions of the data folder, which `neco doctor` prints.",
        (true, true) => {
            "The disk is full. `neco session prune` shows what takes room; it and `neco session rm` work on a full disk."
        }
        (true, false) => {
            "The disk is full. Make a little room on it, 1 MB will do; then `neco session prune` and `neco session rm` make more."
        }
    }
}

/// Whether the store was found to be damaged, so that the next opening looks closely.
pub fn is_doubted(data_dir: &Path) -> bool {
    SqliteStore::is_doubted(&data_dir.join(STORE_FILE))
}

/// Takes back what was given up on a full disk, as far as there is room again.
pub fn keep_room(data_dir: &Path) {
    SqliteStore::keep_room(&data_dir.join(STORE_FILE));
}

/// A copy of the store in a folder of its own, which goes with it.
///
/// # Errors
/// When there is nothing to copy, or no room for it.
pub fn copy_store(data_dir: &Path) -> std::io::Result<tempfile::TempDir> {
    let copy = tempfile::tempdir()?;
    // What waits in the write-ahead log belongs to it.
    for name in [STORE_FILE.to_owned(), format!("{STORE_FILE}-wal")] {
        match std::fs::copy(data_dir.join(&name), copy.path().join(&name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound || name == STORE_FILE => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    // Whether somebody has a session open is not told by a copy.
    #[cfg(unix)]
    std::os::unix::fs::symlink(neco_store::lock_folder(data_dir), neco_store::lock_folder(copy.path()))?;
    Ok(copy)
}
