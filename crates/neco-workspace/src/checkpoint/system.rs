//! What the system says of a folder, and what it can be relied on for.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

/// A name in a folder.
pub struct Name {
    pub name: Vec<u8>,
    /// What it stands for.
    pub kind: FileType,
}

/// Whether the times of a folder become others there with every name that comes or goes. The usual file systems of a
/// machine's own disks do that; of one behind a network, or made by a program, nobody knows.
pub fn tells_of_new_names(folder: impl AsFd) -> bool {
    #[cfg(target_os = "linux")]
    {
        /// Extended (2, 3, 4), XFS, Btrfs, F2FS, and memory.
        const KNOWN: [i64; 5] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994];
        #[allow(clippy::useless_conversion, reason = "the field has another type on other machines")]
        rustix::fs::fstatfs(folder).is_ok_and(|system| KNOWN.contains(&i64::from(system.f_type)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}

/// The names of a folder, sorted.
pub fn names(dir: &mut Dir) -> Result<Vec<Name>, Errno> {
    let mut names = Vec::new();
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let mut kind = entry.file_type();
        // Some file systems don't say.
        if kind == FileType::Unknown {
            let Ok(stat) = rustix::fs::statat(dir.fd()?, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            kind = FileType::from_raw_mode(stat.st_mode);
        }
        names.push(Name { name: name.to_vec(), kind });
    }
    names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(names)
}
