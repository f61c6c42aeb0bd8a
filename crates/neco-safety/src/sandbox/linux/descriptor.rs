//! Lets the runtime wait for a descriptor.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a descriptor with the runtime. It must not block: the caller has seen to that, or never reads it.
///
/// # Errors
/// When the descriptor can't be waited for.
pub(crate) fn register(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names one open descriptor for as long as it lives, and it moves into the registration.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(registered?)
}
