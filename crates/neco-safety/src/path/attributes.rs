//! What a file has besides its content: its owner, its permissions, access lists and other attributes.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;

use rustix::fs::{Gid, Mode, Uid};
use rustix::io::Errno;

/// The attribute that holds the access list; one that a folder gives to new files is not the old file's.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Attributes that say something of the content, which is another now: the system takes them away itself when a
/// file is written.
const OF_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// What a file has besides its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attributes {
    uid: u32,
    gid: u32,
    mode: u32,
    /// Access lists among them.
    extended: BTreeMap<CString, Vec<u8>>,
}

/// Whether a file may become that of whoever writes it, where it can't be given to its old owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Stays,
    MayChange,
}

impl Attributes {
    /// Those of a file that is open.
    /// Fails when one of them can't be read.
    pub fn of(file: &File) -> Result<Self, Errno> {
        let metadata = file.metadata().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Self::with(file, &metadata)
    }

    /// The same where the system has said what it has to say of the file.
    pub(super) fn with(file: &File, metadata: &Metadata) -> Result<Self, Errno> {
        Ok(Self { extended: extended::all(file)?, ..Self::plain(metadata) })
    }

    /// Its owner and permissions alone, with nothing else.
    #[must_use]
    pub fn plain(metadata: &Metadata) -> Self {
        let (uid, gid, mode) = (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777);
        Self { uid, gid, mode, extended: BTreeMap::new() }
    }

    /// Gives all of them to a file that was just made.
    /// Fails when it can't be given one of them, its owner among them.
    pub fn give_to(&self, file: &File) -> Result<(), Errno> {
        self.give(file, Owner::Stays)
    }

    /// The same, where the owner may become another. The owner first: giving a file away takes its special
    /// permission bits away. The permissions last: without the access list their middle part, which is the most
    /// that the list may allow, would be what the group may do.
    pub(super) fn give(&self, file: &File, owner: Owner) -> Result<(), Errno> {
        let mode = self.give_owner(file, owner)?;
        let fresh = extended::all(file)?;
        for (name, value) in self.extended.iter().filter(|(name, value)| fresh.get(*name) != Some(value)) {
            extended::set(file, name, value)?;
        }
        for name in fresh.keys().filter(|name| name.as_bytes() == ACCESS_LIST && !self.extended.contains_key(*name)) {
            extended::remove(file, name)?;
        }
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
    }

    /// Gives the owner and says which permissions are right with the one that it has then.
    fn give_owner(&self, file: &File, owner: Owner) -> Result<u32, Errno> {
        let now = || rustix::fs::fstat(file).map(|stat| (stat.st_uid, stat.st_gid));
        if now()? == (self.uid, self.gid) {
            return Ok(self.mode);
        }
        let (uid, gid) = (Some(Uid::from_raw(self.uid)), Some(Gid::from_raw(self.gid)));
        match (rustix::fs::fchown(file, uid, gid), owner) {
            (Ok(()), _) => return Ok(self.mode),
            (Err(error), Owner::Stays) => return Err(error),
            (Err(_), Owner::MayChange) => {}
        }
        let _ = rustix::fs::fchown(file, None, gid);
        // Run as another user it would be another program than the one its owner trusted.
        let mode = self.mode & 0o777;
        let everybody = (mode & 0o007) << 3;
        // What one group may do, another may not.
        Ok(if now()?.1 == self.gid { mode } else { mode & (0o707 | everybody) })
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod extended {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, CString};
    use std::fs::File;

    use rustix::fs::XattrFlags;
    use rustix::io::Errno;

    /// As much as one attribute, or all their names, may have.
    const MOST: usize = 64 * 1024;

    /// All of a file; none where the file system has no such thing.
    pub(super) fn all(file: &File) -> Result<BTreeMap<CString, Vec<u8>>, Errno> {
        let names = match rustix::fs::flistxattr_query(file) {
            Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(BTreeMap::new()),
            Ok(_) => read(|buffer| rustix::fs::flistxattr(file, buffer))?,
            Err(error) => return Err(error),
        };
        let names = names.split_inclusive(|byte| *byte == 0).filter_map(|name| CStr::from_bytes_with_nul(name).ok());
        let mut all = BTreeMap::new();
        for name in names.filter(|name| !super::OF_CONTENT.contains(&name.to_bytes())) {
            match read(|buffer| rustix::fs::fgetxattr(file, name, buffer)) {
                Ok(value) => all.insert(name.to_owned(), value),
                // Somebody took it away meanwhile.
                Err(Errno::NODATA) => continue,
                Err(error) => return Err(error),
            };
        }
        Ok(all)
    }

    pub(super) fn set(file: &File, name: &CStr, value: &[u8]) -> Result<(), Errno> {
        rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())
    }

    pub(super) fn remove(file: &File, name: &CStr) -> Result<(), Errno> {
        rustix::fs::fremovexattr(file, name)
    }

    fn read(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
        let mut buffer = vec![0; 1024];
        let length = match read(&mut buffer) {
            Err(Errno::RANGE) => {
                buffer = vec![0; MOST];
                read(&mut buffer)?
            }
            result => result?,
        };
        buffer.truncate(length);
        Ok(buffer)
    }
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
mod extended {
    use std::collections::BTreeMap;
    use std::ffi::{CStr, CString};
    use std::fs::File;

    use rustix::io::Errno;

    pub(super) fn all(_: &File) -> Result<BTreeMap<CString, Vec<u8>>, Errno> {
        Ok(BTreeMap::new())
    }

    pub(super) fn set(_: &File, _: &CStr, _: &[u8]) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }

    pub(super) fn remove(_: &File, _: &CStr) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }
}
