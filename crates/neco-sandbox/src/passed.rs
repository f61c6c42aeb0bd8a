//! Files that whoever started this process left open for it.

use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::{FdFlags, fcntl_setfd};

/// Whether they were taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The open file of this number, which no process that is started inherits; nothing where there is none, and the second
/// time. To be asked for before anything else is opened.
#[must_use]
pub fn passed_file(number: RawFd) -> Option<OwnedFd> {
    if TAKEN.swap(true, Ordering::SeqCst) {
        return None;
    }
    #[allow(unsafe_code, reason = "a file that was passed is known by its number alone")]
    // SAFETY: whoever started this process says that the file is for it, and nobody else here has its number: nobody asks
    // twice.
    let file = unsafe { OwnedFd::from_raw_fd(number) };
    match fcntl_setfd(&file, FdFlags::CLOEXEC) {
        Ok(()) => Some(file),
        Err(_) => {
            // There is no such file, so there is nothing to close.
            let _ = file.into_raw_fd();
            None
        }
    }
}
