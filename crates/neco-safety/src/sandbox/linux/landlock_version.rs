//! Asks the kernel which version of Landlock it has.
#![allow(unsafe_code)]

/// The version; 0 when there is none or it is switched off.
pub(crate) fn ask() -> i32 {
    const ASK_FOR_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no structure and only gives a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_FOR_VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}
