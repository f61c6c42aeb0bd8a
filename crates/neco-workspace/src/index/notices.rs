//! What the kernel notes about folders: asked for when a question comes, never waited for.
//!
//! The kernel keeps a short list of what happened; no thread of ours stands by, and an idle process stays idle. The
//! list is bounded, and so is the number of folders: where it can't be trusted, [`Notices::drain`] or
//! [`Notices::is_whole`] says so, and everything is looked at again.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::scan::OnFolder;

/// Folders that one process has noted at most, whatever the machine would allow.
const MOST_FOLDERS: usize = 65_536;
/// The part of what the machine allows a person's programs in all; their editor needs some too.
const SHARE: usize = 4;
const ALLOWED: &str = "/proc/sys/fs/inotify/max_user_watches";
/// Bytes read at once.
const BUFFER: usize = 16 * 1024;

/// File systems whose every change goes through this kernel: ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs, bcachefs.
const LOCAL: [u64; 8] =
    [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];

/// Folders that all indexes of the process have noted.
static NOTED: AtomicUsize = AtomicUsize::new(0);

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

/// The kernel's notes about some folders, which must all lie in one file system.
#[derive(Debug)]
pub(super) struct Notices {
    queue: OwnedFd,
    device: u64,
    folders: Mutex<HashMap<i32, PathBuf>>,
    broken: AtomicBool,
}

impl Notices {
    /// Notes about folders in the file system of `root`; nothing where the kernel would not note everything.
    pub(super) fn begin(root: &Path) -> Option<Self> {
        let kind = rustix::fs::statfs(root).ok()?.f_type as u64;
        if !LOCAL.contains(&kind) {
            return None;
        }
        let device = fs::symlink_metadata(root).ok()?.dev();
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        Some(Self { queue, device, folders: Mutex::default(), broken: AtomicBool::new(false) })
    }

    /// Whether every folder it was told of is noted.
    pub(super) fn is_whole(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
    }

    /// Calls `each` with everything that was noted since the last time.
    pub(super) fn drain(&self, mut each: impl FnMut(Notice)) {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match reader.next() {
                Ok(event) => each(notice(&folders, &event)),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => return each(Notice::Lost),
            }
        }
    }

    fn note(&self, folder: &Path) -> Result<(), Errno> {
        let facts = match fs::symlink_metadata(folder) {
            Ok(facts) => facts,
            // Whoever removed it is noted for the folder above.
            Err(_) => return Ok(()),
        };
        if facts.dev() != self.device || NOTED.load(Ordering::Relaxed) >= most_folders() {
            return Err(Errno::NOSPC);
        }
        let number = match inotify::add_watch(&self.queue, folder, watched()) {
            Ok(number) => number,
            // Gone again, or closed to us: both are noted for the folder above when they change.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        // A folder that is met twice was moved while all was looked at; where it is now can't be told.
        if folders.insert(number, folder.to_path_buf()).is_some() {
            return Err(Errno::EXIST);
        }
        NOTED.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl OnFolder for Notices {
    fn folder(&self, path: &Path) {
        if self.is_whole() && self.note(path).is_err() {
            self.broken.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        let folders = self.folders.get_mut().unwrap_or_else(PoisonError::into_inner);
        NOTED.fetch_sub(folders.len(), Ordering::Relaxed);
    }
}

fn watched() -> WatchFlags {
    WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::MOVED_FROM
        | WatchFlags::MOVED_TO
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::DONT_FOLLOW
}

fn notice(folders: &HashMap<i32, PathBuf>, event: &inotify::Event<'_>) -> Notice {
    let what = event.events();
    let Some(folder) = folders.get(&event.wd()).filter(|_| !what.contains(ReadFlags::QUEUE_OVERFLOW)) else {
        return Notice::Lost;
    };
    match event.file_name() {
        Some(name) => {
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            if what.contains(ReadFlags::ISDIR) { Notice::Folder(path) } else { Notice::File(path) }
        }
        // About the folder itself.
        None => Notice::Folder(folder.clone()),
    }
}

/// How many folders the process may have noted.
fn most_folders() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let allowed = fs::read_to_string(ALLOWED).ok().and_then(|text| text.trim().parse::<usize>().ok());
        allowed.map_or(0, |allowed| allowed / SHARE).min(MOST_FOLDERS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(notices: &Notices) -> Vec<Notice> {
        let mut all = Vec::new();
        notices.drain(|notice| all.push(notice));
        all.dedup();
        all
    }

    #[test]
    fn what_happens_in_noted_folders_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        let Some(notices) = Notices::begin(folder.path()) else { return };
        notices.folder(folder.path());
        notices.folder(&path("sub"));
        assert!(notices.is_whole());
        assert_eq!(all(&notices), []);
        fs::write(path("a"), "1").unwrap();
        fs::write(path("sub/b"), "1").unwrap();
        assert_eq!(all(&notices), [Notice::File(path("a")), Notice::File(path("sub/b"))]);
        assert_eq!(all(&notices), []);
        fs::rename(path("a"), path("sub/c")).unwrap();
        assert_eq!(all(&notices), [Notice::File(path("a")), Notice::File(path("sub/c"))]);
        fs::create_dir(path("new")).unwrap();
        assert_eq!(all(&notices), [Notice::Folder(path("new"))]);
        fs::remove_dir_all(path("sub")).unwrap();
        assert!(all(&notices).contains(&Notice::Folder(path("sub"))));
    }

    #[test]
    fn a_folder_met_twice_makes_them_useless() {
        let folder = tempfile::tempdir().unwrap();
        let Some(notices) = Notices::begin(folder.path()) else { return };
        notices.folder(folder.path());
        notices.folder(&folder.path().join("gone"));
        assert!(notices.is_whole(), "what is not there needs no note");
        notices.folder(folder.path());
        assert!(!notices.is_whole());
    }

    #[test]
    fn what_the_kernel_may_not_note_is_not_begun() {
        assert!(Notices::begin(Path::new("/proc")).is_none());
        assert!(Notices::begin(Path::new("/nowhere/at/all")).is_none());
    }
}
