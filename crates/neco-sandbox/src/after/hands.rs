//! Hands that reach into one folder by descriptors. What a command put in the place of a folder meanwhile, a link
//! above all, is not followed, and nothing outside of the folder is ever touched.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, chmodat, fstat, mkdirat, openat, renameat, renameat_with,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::plan::listed::MOST_LISTED;
use crate::survey::unreadable::{Entry, entries_of};
use neco_safety::path::open_beneath;

/// The words in the names of what was put aside: because it must not be there, or because it took the place of
/// something.
const ASIDE: [&str; 2] = ["refused", "replaced"];

/// Names with a number before others that nobody can have taken.
const NUMBERED: usize = 9;

/// How long the mark is that such a name has instead of a number.
const LONG_MARK: usize = 16;

/// How often another name is tried.
const MOST_NAMES: usize = 40;

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A folder to reach into.
#[derive(Debug)]
pub(crate) struct Hands {
    root: OwnedFd,
    path: PathBuf,
}

/// Something in the folder: the folder that it is in, and its name there.
struct Place<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
}

impl Hands {
    /// Hands for a folder as it is now: they stay in it, wherever it goes.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { root: openat(CWD, path, FOLDER, Mode::empty())?, path: path.to_path_buf() })
    }

    /// The same for a folder that a command may have touched: no link may be on the way to it.
    pub(crate) fn open_straight(path: &Path) -> io::Result<Self> {
        let top = openat(CWD, "/", FOLDER, Mode::empty())?;
        let below = path.strip_prefix("/").map_err(io::Error::other)?;
        Ok(Self { root: open_beneath(top.as_fd(), below, FOLDER)?, path: path.to_path_buf() })
    }

    /// Whether a path lies in the folder.
    pub(crate) fn reach(&self, path: &Path) -> bool {
        path != self.path && path.starts_with(&self.path)
    }

    /// How deep the folder lies: of two that reach something, the deeper one is nearer.
    pub(crate) fn depth(&self) -> usize {
        self.path.components().count()
    }

    pub(crate) fn is_there(&self, path: &Path) -> bool {
        let look = |place: Place<'_>| statat(&place.folder, place.name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        self.place(path).is_ok_and(look)
    }

    /// All that is in a folder that is reached, or is the one that is reached into.
    /// Fails where it can't be read, where it is none, and where it holds too much.
    pub(crate) fn entries_in(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let below = folder.strip_prefix(&self.path).map_err(io::Error::other)?;
        let opened = open_beneath(self.root.as_fd(), below, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
        let entries = entries_of(opened, MOST_LISTED + 1)?;
        if entries.len() > MOST_LISTED { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(entries) }
    }

    /// Where a link leads; nothing for what is none.
    pub(crate) fn link_text(&self, path: &Path) -> Option<PathBuf> {
        let place = self.place(path).ok()?;
        let text = rustix::fs::readlinkat(&place.folder, place.name, Vec::new()).ok()?;
        Some(PathBuf::from(OsString::from_vec(text.into_bytes())))
    }

    /// Gives something another name beside its own, with this word in it, and says which. What can't be renamed
    /// although its folder was made writable is removed, if it is no folder.
    pub(crate) fn put_aside(&self, path: &Path, word: &str) -> io::Result<PathBuf> {
        let place = self.place(path)?;
        let done = place.while_writable(|| place.rename_aside(word).or_else(|error| place.unlink(word).ok_or(error)));
        Ok(path.with_file_name(done?))
    }

    /// Removes something; a folder is put aside.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        match place.while_writable(|| unlinkat(&place.folder, place.name, AtFlags::empty())) {
            Ok(()) => Ok(()),
            Err(Errno::NOENT) => Ok(()),
            Err(_) => self.put_aside(path, "refused").map(drop),
        }
    }

    /// Makes a link where nothing is.
    pub(crate) fn make_link(&self, path: &Path, text: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        Ok(place.while_writable(|| symlinkat(text, &place.folder, place.name))?)
    }

    /// Makes a file where nothing is.
    pub(crate) fn make_file(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        let place = self.place(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = place.while_writable(|| openat(&place.folder, place.name, flags, Mode::from_raw_mode(0o644)))?;
        File::from(made).write_all(text)
    }

    /// The same with all of its text at once: whoever reads it meanwhile finds it whole or not at all.
    pub(crate) fn make_file_at_once(&self, path: &Path, text: &[u8]) -> io::Result<()> {
        let fresh = path.with_file_name(format!(".neco-{}", unguessable()));
        self.make_file(&fresh, text)?;
        let place = self.place(&fresh)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let done = place.while_writable(|| place.rename_to(name));
        if done.is_err() {
            let _ = place.while_writable(|| unlinkat(&place.folder, place.name, AtFlags::empty()));
        }
        Ok(done?)
    }

    /// Makes a folder where nothing is.
    pub(crate) fn make_folder(&self, path: &Path, mode: u32) -> io::Result<()> {
        let place = self.place(path)?;
        Ok(place.while_writable(|| mkdirat(&place.folder, place.name, Mode::from_raw_mode(mode)))?)
    }

    /// Removes a folder if there is nothing in it.
    pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let place = self.place(path)?;
        Ok(place.while_writable(|| unlinkat(&place.folder, place.name, AtFlags::REMOVEDIR))?)
    }

    pub(crate) fn number_of(&self, path: &Path) -> Option<u64> {
        let place = self.place(path).ok()?;
        statat(&place.folder, place.name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|found| found.st_ino)
    }

    /// Whether a file is there that has this text and no other.
    pub(crate) fn holds(&self, path: &Path, text: &[u8]) -> bool {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let read = |place: Place<'_>| {
            let file = File::from(openat(&place.folder, place.name, flags, Mode::empty())?);
            let mut found = Vec::new();
            file.take(text.len() as u64 + 1).read_to_end(&mut found)?;
            Ok::<bool, io::Error>(found == text)
        };
        self.place(path).and_then(read).unwrap_or(false)
    }

    fn place<'a>(&self, path: &'a Path) -> io::Result<Place<'a>> {
        let relative = path.strip_prefix(&self.path).map_err(io::Error::other)?;
        let name = relative.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let above = relative.parent().unwrap_or(Path::new(""));
        Ok(Place { folder: open_beneath(self.root.as_fd(), above, FOLDER)?, name })
    }
}

impl Place<'_> {
    /// Does something to the folder; if that is not allowed, once more while it is.
    fn while_writable<T>(&self, act: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
        match act() {
            Err(Errno::ACCESS | Errno::PERM) => {}
            other => return other,
        }
        let before = Mode::from_raw_mode(fstat(&self.folder)?.st_mode);
        let by_number = format!("/proc/self/fd/{}", self.folder.as_raw_fd());
        let set = |mode: Mode| chmodat(CWD, &by_number, mode, AtFlags::empty());
        set(before | Mode::RWXU)?;
        let done = act();
        let _ = set(before);
        done
    }

    fn rename_aside(&self, word: &str) -> Result<OsString, Errno> {
        for number in 1..=MOST_NAMES {
            let mut aside = self.name.to_owned();
            let mark = if number <= NUMBERED { number.to_string() } else { unguessable() };
            aside.push(format!(".{word}-{mark}"));
            match self.rename_to(&aside) {
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                other => return other.map(|()| aside),
            }
        }
        Err(Errno::EXIST)
    }

    fn rename_to(&self, aside: &OsStr) -> Result<(), Errno> {
        match renameat_with(&self.folder, self.name, &self.folder, aside, RenameFlags::NOREPLACE) {
            // Not every file system knows how to replace nothing.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if statat(&self.folder, aside, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    return Err(Errno::EXIST);
                }
                renameat(&self.folder, self.name, &self.folder, aside)
            }
            other => other,
        }
    }

    /// The last way, for what is no folder. Gives the name that it would have got.
    fn unlink(&self, word: &str) -> Option<OsString> {
        let found = statat(&self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if FileType::from_raw_mode(found.st_mode).is_dir() {
            return None;
        }
        unlinkat(&self.folder, self.name, AtFlags::empty()).ok()?;
        let mut gone = self.name.to_owned();
        gone.push(format!(".{word}"));
        Some(gone)
    }
}

fn unguessable() -> String {
    format!("{:0LONG_MARK$x}", RandomState::new().build_hasher().finish())
}

/// Whether something has a name as what was put aside gets.
pub(crate) fn is_aside(name: &OsStr) -> bool {
    name_before(name).is_some()
}

/// The name that something had before it was put aside; nothing for what was not. What a name closed before is closed
/// still: someone else than the command may have made it.
pub(crate) fn name_before(name: &OsStr) -> Option<&OsStr> {
    let mut parts = name.as_bytes().rsplitn(2, |byte| *byte == b'.');
    let (last, before) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mark = ASIDE.iter().find_map(|word| last.strip_prefix(word.as_bytes())?.strip_prefix(b"-"));
    let is_mark = |mark: &[u8]| match mark {
        [number] => (b'1'..=b'9').contains(number),
        _ => mark.len() == LONG_MARK && mark.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')),
    };
    let is_aside = !before.is_empty() && mark.is_some_and(is_mark);
    is_aside.then(|| OsStr::from_bytes(before))
}

/// Lines of an ignore file for all such names.
pub(crate) fn aside_patterns() -> impl Iterator<Item = String> {
    let long = "[0-9a-f]".repeat(LONG_MARK);
    ASIDE.into_iter().flat_map(move |word| [format!("*.{word}-[1-{NUMBERED}]"), format!("*.{word}-{long}")])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_put_aside_finds_a_name_whatever_others_have_taken() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let hands = Hands::open(folder.path()).unwrap();
        for number in 1..=200 {
            fs::write(at(&format!(".mcp.json.refused-{number}")), "").unwrap();
        }
        fs::write(at(".mcp.json"), "{}").unwrap();
        let aside = hands.put_aside(&at(".mcp.json"), "refused").unwrap();
        assert!(!at(".mcp.json").exists() && fs::read_to_string(&aside).unwrap() == "{}");
        let names = [aside.file_name().unwrap(), "a.refused-1".as_ref(), ".zed.replaced-9".as_ref()];
        assert!(names.into_iter().all(is_aside), "{aside:?}");
        assert_eq!(names.map(name_before), [".mcp.json", "a", ".zed"].map(|name| Some(OsStr::new(name))));
        for name in ["a", "refused-1", ".refused-1", "a.refused-", "a.refused-0", "a.refused-12", "a.refused-1.txt"] {
            assert!(!is_aside(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn a_folder_that_may_not_be_written_to_is_no_hindrance_to_its_owner() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/.envrc"), "x").unwrap();
        let hands = Hands::open(folder.path()).unwrap();
        fs::set_permissions(at("sub"), fs::Permissions::from_mode(0o555)).unwrap();
        assert_eq!(hands.put_aside(&at("sub/.envrc"), "refused").unwrap(), at("sub/.envrc.refused-1"));
        let mode = fs::metadata(at("sub")).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(at("sub"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(!at("sub/.envrc").exists() && mode == 0o555, "it is left as it was found");
    }

    #[test]
    fn no_link_is_followed_and_nothing_outside_is_touched() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("work/a")).unwrap();
        fs::create_dir(at("ssh")).unwrap();
        fs::write(at("ssh/config"), "theirs").unwrap();
        let hands = Hands::open(&at("work")).unwrap();
        symlink(at("ssh"), at("work/a/git")).unwrap();
        assert!(hands.put_aside(&at("work/a/git/config"), "replaced").is_err());
        assert!(hands.remove(&at("work/a/git/config")).is_err());
        assert!(hands.make_link(&at("work/a/git/hooks"), Path::new("/evil")).is_err());
        assert!(hands.make_file(&at("ssh/new"), b"x").is_err() && !hands.is_there(&at("work/a/git/config")));
        assert!(hands.make_file_at_once(&at("work/a/git/commondir"), b".\n").is_err());
        assert!(hands.make_folder(&at("work/a/git/hooks"), 0o755).is_err());
        assert!(hands.remove_folder(&at("work/a/git")).is_err() && !hands.holds(&at("work/a/git/config"), b"theirs"));
        assert_eq!(fs::read_to_string(at("ssh/config")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(at("ssh")).unwrap().count(), 1);
        // The link itself may go.
        hands.remove(&at("work/a/git")).unwrap();
        assert!(fs::symlink_metadata(at("work/a/git")).is_err());
    }
}
