//! Another head for a damaged database: its first bytes say what the rest is, so when they are gone nothing is read,
//! although everything else may be there. A new database of ours has the same head but for the number of pages.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::sizes::files_of;
use crate::private;

/// What every database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Bytes of a head.
const HEAD: usize = 100;
/// Where a head says how long a page is, how many there are, and where the list of free ones begins.
const PAGE_SIZE: usize = 16;
const PAGES: usize = 28;
const FREE: usize = 32;

/// A copy of the database `damaged` at `copy`, with the head of `new`; nothing when its own is none of the damage.
pub(super) fn with_another(damaged: &Path, new: &Path, copy: &Path) -> io::Result<Option<PathBuf>> {
    let mut own = [0; HEAD];
    let is_short = File::open(damaged)?.read_exact(&mut own).is_err();
    if is_short || own.starts_with(MAGIC) {
        return Ok(None);
    }
    let mut head = [0; HEAD];
    File::open(new)?.read_exact(&mut head)?;
    let page_size = match u16::from_be_bytes([head[PAGE_SIZE], head[PAGE_SIZE + 1]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let pages = fs::metadata(damaged)?.len().checked_div(page_size).unwrap_or_default();
    head[PAGES..PAGES + 4].copy_from_slice(&u32::try_from(pages).unwrap_or(u32::MAX).to_be_bytes());
    head[FREE..FREE + 8].fill(0);
    // What waits in the write-ahead log belongs to it.
    for (from, to) in files_of(damaged).iter().zip(files_of(copy)).take(2) {
        let _ = fs::remove_file(&to);
        let mut to = private::file_options().create_new(true).write(true).open(&to)?;
        match File::open(from) {
            Ok(mut from) => drop(io::copy(&mut from, &mut to)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    private::file_options().write(true).open(copy)?.write_all(&head)?;
    Ok(Some(copy.to_owned()))
}
