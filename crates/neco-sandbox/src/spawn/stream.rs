//! Reading a process's output and writing its input without blocking a thread.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::{Errno, ioctl_fionbio, read, write};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::linux::channel::{self, Word};
use crate::linux::descriptor::register;
use neco_safety::world::{BoxFuture, ProcessInput};

/// What a process prints: the reading end of its pipe or its terminal.
#[derive(Debug)]
pub(super) struct ProcessOutput(AsyncFd<OwnedFd>);

impl ProcessOutput {
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&descriptor, true)?;
        Ok(Self(register(descriptor, Interest::READABLE)?))
    }

    /// The next piece; nothing at the end. Safe to cancel.
    pub(super) async fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        let result = self.0.async_io(Interest::READABLE, |descriptor| Ok(read(descriptor, &mut *buffer)?)).await;
        match result {
            Ok(0) => None,
            Ok(length) => Some(length),
            // A terminal whose last process is gone says EIO; no other failure of a read can be mended either.
            Err(_) => None,
        }
    }

    /// The next piece if it is there.
    pub(super) fn read_now(&self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            match read(self.0.get_ref(), &mut *buffer) {
                Ok(length) => return Some(length).filter(|length| *length > 0),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}

/// The pipe or the terminal that a process reads from.
#[derive(Debug)]
pub(super) struct Input {
    descriptor: AsyncFd<OwnedFd>,
    terminal: bool,
}

impl Input {
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let terminal = rustix::termios::isatty(&descriptor);
        ioctl_fionbio(&descriptor, true)?;
        Ok(Self { descriptor: register(descriptor, Interest::WRITABLE)?, terminal })
    }
}

impl ProcessInput for Input {
    fn write_all<'a>(&'a mut self, mut bytes: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(async move {
            while !bytes.is_empty() {
                let attempt = |descriptor: &OwnedFd| Ok(write(descriptor, bytes)?);
                let written = self.descriptor.async_io(Interest::WRITABLE, attempt).await?;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Ok(())
        })
    }

    fn end(mut self: Box<Self>) -> BoxFuture<'static, io::Result<()>> {
        // The end of input on a terminal is a character.
        Box::pin(async move { if self.terminal { self.write_all(&[4]).await } else { Ok(()) } })
    }
}

/// A process's exit, seen before it is reaped.
#[derive(Debug)]
pub(super) enum ExitWatch {
    /// Readable once the process has exited.
    Descriptor(AsyncFd<OwnedFd>),
    /// Systems without process descriptors are asked again and again.
    Asking(Pid),
    /// The line to the launcher in a box: readable once the command in there has exited, or the box is gone.
    Line(AsyncFd<OwnedFd>),
    /// It was gone, reaped by someone else, before it could be watched.
    Gone,
}

/// How often a system without process descriptors is asked.
const ASK_AGAIN: Duration = Duration::from_millis(5);

impl ExitWatch {
    pub(super) fn new(leader: Pid) -> io::Result<Self> {
        match pidfd_open(leader, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Self::Descriptor(register(descriptor, Interest::READABLE)?)),
            Err(Errno::NOSYS | Errno::PERM) => Ok(Self::Asking(leader)),
            Err(Errno::SRCH) => Ok(Self::Gone),
            Err(error) => Err(error.into()),
        }
    }

    /// Watches a command through the line to its launcher.
    pub(super) fn of_line(line: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&line, true)?;
        Ok(Self::Line(register(line, Interest::READABLE)?))
    }

    /// What the launcher said about the end of the command: the status, and whether others are left.
    pub(super) fn last_word(&self) -> Option<(i32, bool)> {
        let Self::Line(line) = self else { return None };
        match channel::hear(line.get_ref()) {
            Ok(Some(Word::Ended { status, others })) => Some((status, others)),
            Ok(Some(Word::Listener(_)) | None) | Err(_) => None,
        }
    }

    /// Waits until the process has exited. Safe to cancel.
    pub(super) async fn exited(&self) {
        match self {
            Self::Descriptor(descriptor) | Self::Line(descriptor) => {
                // It stays readable, and an error here can only mean that the runtime is ending.
                let _ = descriptor.readable().await;
            }
            Self::Asking(leader) => {
                let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
                while matches!(waitid(WaitId::Pid(*leader), look), Ok(None)) {
                    tokio::time::sleep(ASK_AGAIN).await;
                }
            }
            Self::Gone => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_exit_is_seen_either_way_and_left_to_be_reaped() {
        for asking in [false, true] {
            let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
            let pid = Pid::from_child(&child);
            let watch = if asking { ExitWatch::Asking(pid) } else { ExitWatch::new(pid).unwrap() };
            watch.exited().await;
            watch.exited().await;
            assert!(child.try_wait().unwrap().unwrap().success());
        }
    }
}
