//! What the system tells of changes in folders: where it does, nobody has to look at all of them again.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::statfs;
use rustix::io::Errno;

/// The most folders that are followed: each takes about a kilobyte of the kernel's memory.
const MOST_FOLDERS: usize = 50_000;

/// However much is told, everything is looked at again after this time.
const TRUSTED: Duration = Duration::from_secs(300);

/// Room for news.
const ROOM: usize = 64 * 1024;

/// Disks of this machine. Of others the system does not tell what another machine changes.
const OWN_DISKS: [i64; 9] = [
    0xEF53,      // ext2 to ext4
    0x5846_5342, // XFS
    0x9123_683E, // Btrfs
    0x0102_1994, // a disk in memory
    0xF2F5_2010, // F2FS
    0x2FC1_2FC1, // ZFS
    0xCA45_1A4E, // bcachefs
    0x794C_7630, // an overlay, as containers have it
    0x3153_464A, // JFS
];

/// What was made, removed or renamed in a folder, or that a folder can be read by now and could not be before.
const ASKED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);

/// Follows what happens in folders.
#[derive(Debug)]
pub(crate) struct News {
    queue: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    /// The device of all that is followed.
    device: u64,
    /// When everything was looked at; nothing while that is under way.
    since: Option<Instant>,
}

/// What has changed since the last time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// What is in these folders, those above before those below.
    Only(BTreeSet<PathBuf>),
    /// Nobody knows.
    Anything,
}

impl News {
    /// News of folders on the disk of this one.
    /// Fails when the system does not tell of everything there.
    pub(crate) fn new(root: &Path, device: u64) -> io::Result<Self> {
        if !OWN_DISKS.contains(&statfs(root)?.f_type) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { queue, folders: HashMap::new(), device, since: None })
    }

    /// Follows one more folder, also one that is followed already and may have another name now. To be called before
    /// the folder is looked at.
    /// Fails when not everything can be followed; then nothing is.
    pub(crate) fn follow(&mut self, folder: &Path, device: u64) -> io::Result<()> {
        if device != self.device || self.folders.len() >= MOST_FOLDERS {
            return Err(io::ErrorKind::Unsupported.into());
        }
        match inotify::add_watch(&self.queue, folder, ASKED) {
            Ok(number) => {
                self.folders.insert(number, folder.to_path_buf());
                Ok(())
            }
            // The folder above tells when it can be read, or is another one.
            Err(Errno::ACCESS | Errno::NOENT | Errno::NOTDIR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything is followed by now, and was looked at after that.
    pub(crate) fn all_are_followed(&mut self) {
        self.since = Some(Instant::now());
    }

    /// Not all that has changed was looked at.
    pub(crate) fn lose_track(&mut self) {
        self.since = None;
    }

    /// What has changed since the last time.
    pub(crate) fn changed(&mut self) -> Changed {
        let mut only = BTreeSet::new();
        let mut anything = self.since.is_none_or(|since| since.elapsed() > TRUSTED);
        let mut room = [MaybeUninit::uninit(); ROOM];
        let mut reader = Reader::new(&self.queue, &mut room);
        loop {
            match reader.next() {
                Ok(event) => {
                    let (number, what) = (event.wd(), event.events());
                    let of_folder = what.contains(ReadFlags::ISDIR) || event.file_name().is_none();
                    // What is followed below a folder that was renamed has other paths now.
                    let renamed = ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO | ReadFlags::MOVE_SELF;
                    anything |= of_folder && what.intersects(renamed) || what.contains(ReadFlags::QUEUE_OVERFLOW);
                    // Another may have its name by now, and even its number.
                    if what.contains(ReadFlags::IGNORED) {
                        only.extend(self.folders.remove(&number));
                    } else if of_folder || !what.contains(ReadFlags::ATTRIB) {
                        only.extend(self.folders.get(&number).cloned());
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    anything = true;
                    break;
                }
            }
        }
        if anything {
            self.since = None;
            return Changed::Anything;
        }
        Changed::Only(only)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn every_change_in_a_folder_is_told_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/file"), "").unwrap();
        let device = fs::metadata(folder.path()).unwrap().dev();
        let mut news = News::new(folder.path(), device).unwrap();
        for path in ["", "a", "a/b"] {
            news.follow(&at(path), device).unwrap();
        }
        assert_eq!(news.changed(), Changed::Anything, "not everything was looked at");
        news.all_are_followed();
        let only = |paths: &[&str]| Changed::Only(paths.iter().map(|path| at(path)).collect());
        assert_eq!(news.changed(), only(&[]));
        fs::write(at("a/file"), "other").unwrap();
        fs::set_permissions(at("a/file"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::read_dir(at("a")).unwrap().count();
        assert_eq!(news.changed(), only(&[]), "what is in files is not told");
        fs::write(at("a/new"), "").unwrap();
        fs::rename(at("a/new"), at("a/b/new")).unwrap();
        assert_eq!(news.changed(), only(&["a", "a/b"]));
        fs::set_permissions(at("a/b"), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(news.changed(), only(&["a", "a/b"]));
        fs::remove_dir_all(at("a/b")).unwrap();
        assert_eq!(news.changed(), only(&["a", "a/b"]));
        fs::rename(at("a"), at("c")).unwrap();
        assert_eq!(news.changed(), Changed::Anything, "all below it has another path");
        assert!(news.follow(&at("c"), device + 1).is_err(), "another disk");
        assert!(News::new(Path::new("/proc"), 0).is_err());
    }
}
