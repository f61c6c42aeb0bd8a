//! Watches folders from inside a box while its command runs: none of them may become a repository.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::read;

use crate::sandbox::bare;
use crate::sandbox::hands::Hands;

/// Folders that are watched. Something new in one of them is told by `SIGIO`.
pub(super) struct Guard {
    told: OwnedFd,
    folders: Vec<(PathBuf, Hands)>,
}

impl Guard {
    /// Begins to watch.
    ///
    /// # Errors
    /// When the system has no watches left.
    pub(super) fn new(folders: &[PathBuf]) -> io::Result<Self> {
        let told = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        for folder in folders {
            inotify::add_watch(&told, folder, WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR)?;
        }
        // SAFETY: sets flags and an owner on a descriptor that lives here; takes numbers.
        let set = unsafe {
            libc::fcntl(told.as_raw_fd(), libc::F_SETOWN, libc::getpid()) == 0
                && libc::fcntl(told.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0
        };
        if !set {
            return Err(io::Error::last_os_error());
        }
        let hands = |folder: &PathBuf| Ok((folder.clone(), Hands::open(folder)?));
        Ok(Self { told, folders: folders.iter().map(hands).collect::<io::Result<_>>()? })
    }

    /// Looks after something new was told.
    pub(super) fn look(&self) {
        let mut news = [0; 4096];
        while read(&self.told, &mut news).is_ok_and(|length| length > 0) {}
        self.folders.iter().for_each(|(folder, hands)| drop(bare::unmake(hands, folder)));
    }
}
