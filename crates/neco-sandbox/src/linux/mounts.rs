//! Mounts, made with descriptors instead of paths: what was looked at is what is mounted.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

/// What no mount in a box needs.
pub(super) const PLAIN: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// The same, and nothing can be changed.
pub(super) const READ_ONLY: MountAttrFlags = PLAIN.union(MountAttrFlags::MOUNT_ATTR_RDONLY);

/// How a path is looked up.
#[derive(Clone, Copy)]
pub(super) enum Links {
    /// A path of a plan has none: one that is met was put there meanwhile.
    Refused,
    /// Those of the system are followed, and none leads out of the folder that was begun in.
    Followed,
}

/// The descriptor of something below `root`, with nothing opened.
/// Fails when it is not there, or a link is on the way that must not be.
pub(super) fn look_up(root: BorrowedFd<'_>, path: &Path, links: Links) -> Result<OwnedFd, Errno> {
    let relative = path.strip_prefix("/").unwrap_or(path);
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    let resolve = match links {
        Links::Refused => ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
        Links::Followed => ResolveFlags::IN_ROOT,
    };
    openat2(root, relative, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// The machine's root, as this process sees it.
pub(super) fn machine() -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat2(CWD, "/", flags, Mode::empty(), ResolveFlags::empty())?)
}

/// A copy of what is here and mounted below it, not yet anywhere.
pub(super) fn copied(place: impl AsFd, attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let copy = open_tree(place, "", flags)?;
    set(&copy, attributes, Depth::All)?;
    Ok(copy)
}

/// A filesystem that the kernel makes anew, not yet anywhere.
pub(super) fn fresh(kind: &str, options: &[(&str, Option<&str>)], attributes: MountAttrFlags) -> io::Result<OwnedFd> {
    let made = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match value {
            Some(value) => fsconfig_set_string(&made, *name, *value)?,
            None => fsconfig_set_flag(&made, *name)?,
        }
    }
    fsconfig_create(&made)?;
    Ok(fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Puts a mount over something.
/// Fails when a folder is to cover a file or the other way round, or the kernel refuses.
pub(super) fn put(mount: impl AsFd, over: impl AsFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, "", over, "", flags)?)
}

/// How far attributes reach.
#[derive(Clone, Copy)]
pub(super) enum Depth {
    /// The mount itself.
    Alone,
    /// All that is mounted below it, too.
    All,
}

/// Sets attributes of a mount. None is taken away.
pub(super) fn set(mount: impl AsFd, attributes: MountAttrFlags, depth: Depth) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        namespace: u64,
    }
    let wanted = Attributes { set: attributes.bits().into(), clear: 0, propagation: 0, namespace: 0 };
    let flags = libc::AT_EMPTY_PATH
        | match depth {
            Depth::Alone => 0,
            Depth::All => libc::AT_RECURSIVE,
        };
    // SAFETY: the path is a literal, and the structure is whole, outlives the call and has the size given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const wanted,
            size_of::<Attributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
