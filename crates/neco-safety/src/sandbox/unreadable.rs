//! Folders that their owner may enter and not read: git goes through them by name, so whoever looks for what a command
//! made must read them all the same.

use std::fs::{self, DirEntry, Metadata};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, chmodat, fstat, openat};
use rustix::process::geteuid;

/// What is in a folder, which was `found` to be one; nothing for what can't be read at all. What its owner may not read
/// is open to them for the moment that it takes.
pub(super) fn entries(folder: &Path, found: &Metadata) -> Vec<DirEntry> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.flatten().collect(),
        Err(_) if found.uid() == geteuid().as_raw() && found.mode() & 0o500 != 0o500 => {
            while_readable(folder).unwrap_or_default()
        }
        Err(_) => Vec::new(),
    }
}

fn while_readable(folder: &Path) -> rustix::io::Result<Vec<DirEntry>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(CWD, folder, flags, Mode::empty())?;
    let before = Mode::from_raw_mode(fstat(&handle)?.st_mode);
    let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let set = |mode: Mode| chmodat(CWD, &by_number, mode, AtFlags::empty());
    set(before | Mode::RUSR | Mode::XUSR)?;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    set(before)?;
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_its_owner_may_not_read_is_read_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o311)).unwrap();
        let found = fs::symlink_metadata(folder.path()).unwrap();
        let by_itself = entries(folder.path(), &found).len();
        let opened = while_readable(folder.path()).unwrap().len();
        let mode = fs::metadata(folder.path()).unwrap().mode() & 0o777;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!((by_itself, opened, mode), (1, 1, 0o311));
    }
}
