//! Opening beneath a root's handle, without following a link.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What every opening has: not inherited by processes, never a controlling terminal, never waiting.
pub(super) const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK);

/// A handle that stands for a place without reading it, where the system has such handles.
#[cfg(target_os = "linux")]
pub(super) const PLACE: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
pub(super) const PLACE: OFlags = OFlags::RDONLY.union(ALWAYS);

/// Opens a file that a walk of a folder has found, for reading. The last name is not followed when
/// it is a link, and a pipe does not wait for its other end.
/// The error is what the system says.
pub fn open_without_links(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | ALWAYS;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Opens `relative` (empty for the root itself) beneath a root.
pub fn open_beneath(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    match in_one_call(root, relative, flags) {
        // Old kernels have no such call and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
        result => return result,
    }
    name_by_name(root, relative, flags)
}

#[cfg(target_os = "linux")]
fn in_one_call(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)
}

/// The same on any Unix: every folder on the way is opened from the one before it.
pub(super) fn name_by_name(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut names = plain_names(relative)?.peekable();
    if names.peek().is_none() {
        return rustix::fs::openat(root, ".", flags | OFlags::NOFOLLOW, Mode::empty());
    }
    let mut folder: Option<OwnedFd> = None;
    while let Some(name) = names.next() {
        let from = folder.as_ref().map_or(root, AsFd::as_fd);
        if names.peek().is_none() {
            return no_link(rustix::fs::openat(from, name, flags | OFlags::NOFOLLOW, Mode::empty())?);
        }
        folder = Some(open_folder(from, name)?);
    }
    Err(Errno::NOENT)
}

pub(super) fn open_folder(from: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = PLACE | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    match rustix::fs::openat(from, name, flags, Mode::empty()) {
        Err(Errno::NOTDIR) if is_link(from, name) => Err(Errno::LOOP),
        result => result,
    }
}

/// The names of a path that has nothing but names.
pub(super) fn plain_names(relative: &Path) -> Result<impl Iterator<Item = &OsStr>, Errno> {
    if relative.components().any(|component| !matches!(component, Component::Normal(_))) {
        return Err(Errno::XDEV);
    }
    Ok(relative.iter())
}

/// A handle of a place can be of the link itself.
fn no_link(handle: OwnedFd) -> Result<OwnedFd, Errno> {
    let stat = rustix::fs::fstat(&handle)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink() { Err(Errno::LOOP) } else { Ok(handle) }
}

fn is_link(from: BorrowedFd<'_>, name: &OsStr) -> bool {
    rustix::fs::statat(from, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Both ways of opening give the same answers, so that an old kernel is no weaker.
    #[test]
    fn name_by_name_refuses_what_the_one_call_refuses() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/a/b")).unwrap();
        fs::write(folder.path().join("root/a/b/file"), "x").unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        symlink("../secret", folder.path().join("root/out")).unwrap();
        symlink("a", folder.path().join("root/inner")).unwrap();
        let root = rustix::fs::open(folder.path().join("root"), PLACE | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let cases = [
            ("", Ok(())),
            ("a/b/file", Ok(())),
            ("a/missing", Err(Errno::NOENT)),
            ("a/b/file/x", Err(Errno::NOTDIR)),
            ("out", Err(Errno::LOOP)),
            ("inner/b/file", Err(Errno::LOOP)),
            ("../secret", Err(Errno::XDEV)),
            ("/etc/passwd", Err(Errno::XDEV)),
        ];
        for (path, expected) in cases {
            for flags in [PLACE, OFlags::RDONLY | ALWAYS] {
                let by_name = name_by_name(root.as_fd(), Path::new(path), flags).map(|_| ());
                assert_eq!(by_name, expected, "{path} name by name");
                let in_one = open_beneath(root.as_fd(), Path::new(path), flags).map(|_| ());
                assert_eq!(in_one, expected, "{path} in one call");
            }
        }
    }
}
