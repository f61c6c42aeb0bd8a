//! Neco's own credentials: what lets somebody in, and what services take for the person. No tool opens them, whoever says
//! yes: whoever has one of them says yes to everything else.
//!
//! A process has one list of them: it only grows, and whoever is added guards more and opens nothing.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use rustix::io::Errno;

use super::resolve::resolve;

/// Files, and folders with all that is in them, each as it is named and with every link resolved.
static OWN: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// From now on no tool opens this file, or anything in this folder.
pub fn guard_credentials(place: PathBuf) {
    let resolved = resolve(&place).map(|resolved| resolved.path);
    let mut guarded = OWN.write().unwrap_or_else(PoisonError::into_inner);
    for place in resolved.into_iter().chain([place]) {
        if !guarded.contains(&place) {
            guarded.push(place);
        }
    }
}

/// The places that are guarded so.
pub(crate) fn own_credentials() -> Vec<PathBuf> {
    OWN.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Whether a resolved path is one of them.
pub fn is_own_credential(path: &Path) -> bool {
    OWN.read().unwrap_or_else(PoisonError::into_inner).iter().any(|place| path.starts_with(place))
}

/// Refuses a file that was opened by another name (a hard link) of one of them.
pub(super) fn refuse_other_names(metadata: &Metadata) -> Result<(), Errno> {
    // Nearly all have a single name, which was looked at.
    let is_one = metadata.is_file() && metadata.nlink() > 1 && files().any(|own| is_same(&own, metadata));
    if is_one { Err(Errno::ACCESS) } else { Ok(()) }
}

fn is_same(own: &Metadata, other: &Metadata) -> bool {
    (own.dev(), own.ino()) == (other.dev(), other.ino())
}

/// The files that are there of them.
fn files() -> impl Iterator<Item = Metadata> {
    own_credentials().into_iter().flat_map(|place| {
        let inside = fs::read_dir(&place).into_iter().flatten().flatten().filter_map(|entry| entry.metadata().ok());
        fs::symlink_metadata(&place).into_iter().chain(inside).collect::<Vec<_>>()
    })
}
