//! Room that is kept beside a store for the day when its disk is full: without it not even something can be removed,
//! for that has to be written too.
//!
//! A file of 1 MB, really written. It is made when a store is opened on a disk that has plenty of room, given up when
//! something is removed or a damaged store is set aside on a full disk, and made again as soon as there is room.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::private;

/// Bytes that are kept.
const BYTES: u64 = 1 << 20;
/// Bytes that stay free when it is made: a disk that is nearly full has its room for the work itself.
pub(super) const PLENTY: u64 = BYTES;
/// The same after something was removed: what was given up for that is taken back, so that it can be given up again.
pub(super) const AGAIN: u64 = BYTES / 16;
/// Less than this is not worth keeping.
const LEAST: u64 = BYTES / 2;
/// With less than this a disk is as good as full.
const LITTLE: u64 = BYTES / 4;
/// Bytes written at a time.
const PIECE: usize = 1 << 16;

/// Keeps room beside the store, if it is not kept already, of what is free beyond `left` bytes. Where that can't be
/// done there is none, which is no failure.
pub(super) fn keep(store: &Path, left: u64) {
    let there = bytes(store);
    let possible = if there >= BYTES { 0 } else { free(store).unwrap_or(0).saturating_add(there).saturating_sub(left) };
    let wanted = possible.min(BYTES);
    if wanted < LEAST || wanted <= there {
        return;
    }
    if let Err(error) = write(&beside(store), wanted) {
        tracing::debug!(%error, "no room is kept for a full disk");
        give_up(store);
    }
}

/// Keeps room as [`keep`] does, without keeping anybody from their work.
pub(super) async fn keep_aside(store: &Path, left: u64) {
    let store = store.to_owned();
    // Where it can't be done there is none.
    let _ = tokio::task::spawn_blocking(move || keep(&store, left)).await;
}

/// Gives the room up, without keeping anybody from their work; whether there was any.
pub(super) async fn give_up_aside(store: &Path) -> bool {
    let store = store.to_owned();
    tokio::task::spawn_blocking(move || give_up(&store)).await.unwrap_or(false)
}

/// Gives the room up; whether there was any.
fn give_up(store: &Path) -> bool {
    std::fs::remove_file(beside(store)).is_ok()
}

/// Bytes that are kept.
pub(super) fn bytes(store: &Path) -> u64 {
    std::fs::metadata(beside(store)).map_or(0, |file| file.len())
}

/// Whether the disk of a store has next to no room.
pub(super) fn is_needed(store: &Path) -> bool {
    free(store).is_some_and(|free| free < LITTLE)
}

/// Whether the disk of a store has room for what can be made later, too.
pub(super) fn has_plenty(store: &Path) -> bool {
    free(store).is_none_or(|free| free >= 16 * BYTES)
}

fn beside(store: &Path) -> PathBuf {
    let mut name = OsString::from(store);
    name.push("-reserve");
    PathBuf::from(name)
}

/// Bytes that are free on the disk of a store; nothing where that is not known.
fn free(store: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(store.parent().filter(|folder| !folder.as_os_str().is_empty())?).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes that no file system makes smaller: what is packed, or left out as empty, keeps no room.
fn write(path: &Path, bytes: u64) -> io::Result<()> {
    let mut file = private::file_options().create(true).truncate(true).write(true).open(path)?;
    let mut number: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut piece = Vec::with_capacity(PIECE);
    let mut written = 0;
    while written < bytes {
        piece.clear();
        while piece.len() < PIECE {
            number ^= number << 13;
            number ^= number >> 7;
            number ^= number << 17;
            piece.extend_from_slice(&number.to_le_bytes());
        }
        file.write_all(&piece)?;
        written += piece.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept_where_there_is_room_and_given_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("neco.db");
        keep(&store, u64::MAX);
        assert_eq!(bytes(&store), 0, "not on a disk that is nearly full");
        keep(&store, PLENTY);
        assert_eq!(bytes(&store), BYTES);
        let is_readable_by_all =
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(beside(&store)).unwrap().permissions()) & 0o077;
        assert_eq!(is_readable_by_all, 0);
        assert!(give_up(&store) && !give_up(&store));
        // One that was cut short is made whole.
        std::fs::write(beside(&store), "half").unwrap();
        keep(&store, PLENTY);
        assert_eq!(bytes(&store), BYTES);
    }
}
