//! The calls of Landlock that its crate does not make for others.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The version; 0 when there is none or it is switched off.
pub(super) fn version() -> i32 {
    const ASK_FOR_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no structure and only gives a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_FOR_VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Applies rules to this thread and all it starts. It must have given up all new privileges.
///
/// # Errors
/// When the kernel refuses.
pub(super) fn restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes a descriptor that lives here, and a number.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
