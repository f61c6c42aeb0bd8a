//! What stands in for the kernel's notes where there are none: everything is looked at before every answer.

use std::path::{Path, PathBuf};

use super::scan::OnFolder;

/// What happened to something in a folder that was noted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A file, at this path, may have come, changed or gone.
    File(PathBuf),
    /// A folder came, went, moved or got other rights.
    Folder(PathBuf),
    /// More than can be told.
    Lost,
}

/// Notes that are never begun.
#[derive(Debug)]
pub(super) enum Notices {}

impl Notices {
    /// Nothing.
    pub(super) fn begin(_: &Path) -> Option<Self> {
        None
    }

    /// Whether every folder it was told of is noted.
    pub(super) fn is_whole(&self) -> bool {
        match *self {}
    }

    /// Calls `each` with everything that was noted since the last time.
    pub(super) fn drain(&self, _: impl FnMut(Notice)) {
        match *self {}
    }
}

impl OnFolder for Notices {
    fn folder(&self, _: &Path) {
        match *self {}
    }
}
