//! Watches folders from inside a box while its command runs: none of them may become a repository.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::read;

use crate::after::hands::Hands;
use crate::git::bare;

/// Something was made, linked or moved there; something there got another name; and tell again and again.
const ASKED: libc::c_ulong = 0x4 | 0x10 | 0x8000_0000;

/// Folders that are watched. Something new in one of them is told by `SIGIO`.
pub(super) struct Guard {
    told: Told,
    folders: Vec<(PathBuf, Hands)>,
}

/// What the news comes from.
enum Told {
    /// The folders themselves, held open. An older way than the other one, and much better here: the kernel needs
    /// no time to end it (0.01 ms), and for the other it waits until nobody can be looking any more (8 to 20 ms).
    Folders { _held: Vec<OwnedFd> },
    /// A queue, which is to be emptied.
    Queue(OwnedFd),
}

impl Guard {
    /// Begins to watch.
    pub(super) fn new(folders: &[PathBuf]) -> io::Result<Self> {
        let told = match by_folders(folders) {
            Ok(held) => Told::Folders { _held: held },
            // A kernel may be built without it.
            Err(_) => Told::Queue(by_queue(folders)?),
        };
        let hands = |folder: &PathBuf| Ok((folder.clone(), Hands::open(folder)?));
        Ok(Self { told, folders: folders.iter().map(hands).collect::<io::Result<_>>()? })
    }

    /// Looks after something new was told.
    pub(super) fn look(&self) {
        if let Told::Queue(queue) = &self.told {
            let mut news = [0; 4096];
            while read(queue, &mut news).is_ok_and(|length| length > 0) {}
        }
        self.folders.iter().for_each(|(folder, hands)| drop(bare::unmake(hands, folder)));
    }
}

fn by_folders(folders: &[PathBuf]) -> io::Result<Vec<OwnedFd>> {
    let watch = |path: &PathBuf| {
        let folder = openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        // SAFETY: takes a descriptor that lives here, and numbers. The signal is the usual one.
        let set = unsafe { libc::fcntl(folder.as_raw_fd(), libc::F_NOTIFY, ASKED) == 0 };
        if set { Ok(folder) } else { Err(io::Error::last_os_error()) }
    };
    folders.iter().map(watch).collect()
}

fn by_queue(folders: &[PathBuf]) -> io::Result<OwnedFd> {
    let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    for folder in folders {
        inotify::add_watch(&queue, folder, WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR)?;
    }
    // SAFETY: sets flags and an owner on a descriptor that lives here; takes numbers.
    let set = unsafe {
        libc::fcntl(queue.as_raw_fd(), libc::F_SETOWN, libc::getpid()) == 0
            && libc::fcntl(queue.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0
    };
    if set { Ok(queue) } else { Err(io::Error::last_os_error()) }
}
