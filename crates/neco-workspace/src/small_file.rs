//! Reading a file that anyone may have put there: a pipe does not wait, a device does not pour.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Whether a last name that is a link is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// To wherever it leads.
    Followed,
    /// No: such a file counts as missing.
    Refused,
}

/// More than any short file of ours holds.
const MOST_OF_OURS: u64 = 64 * 1024;

/// The content of a short file that nobody but Neco and the system write: it is read without asking for its length.
pub(crate) fn read_ours(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(256);
    File::open(path)?.take(MOST_OF_OURS).read_to_end(&mut content)?;
    Ok(content)
}

/// The content of a regular file of at most `most` bytes; nothing when it is missing, something
/// else, or longer.
pub(crate) fn read(path: &Path, most: u64, links: Links) -> Option<Vec<u8>> {
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    if links == Links::Refused {
        flags |= OFlags::NOFOLLOW;
    }
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    // What was opened is judged, not the name: that could lead elsewhere a moment later.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= most).then_some(content)
}
