//! Waits for descriptors: the runtime, or a thread of its own.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a descriptor with the runtime. It must not block: the caller has seen to that, or never reads it.
pub(crate) fn register(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` names one open descriptor for as long as it lives, and it moves into the registration.
    let registered = unsafe { AsyncFd::register_with_interest(descriptor, interest) };
    Ok(registered?)
}

/// Waits until a descriptor can be read, so long at most. Blocks this thread.
pub(crate) fn wait_until_readable(descriptor: impl AsFd, most: Duration) {
    let number = descriptor.as_fd().as_raw_fd();
    let mut watched = libc::pollfd { fd: number, events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(most.as_millis()).unwrap_or(i32::MAX).max(1);
    // SAFETY: one structure, which outlives the call. Whatever it says, the caller looks again.
    unsafe { libc::poll(&raw mut watched, 1, milliseconds) };
}
