//! A pseudo-terminal for a process that insists on one.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

pub(super) struct Terminal {
    /// Our side.
    pub(super) master: OwnedFd,
    /// The path by which the process opens its side.
    pub(super) path: CString,
}

/// Opens a pseudo-terminal of a fixed size.
pub(super) fn open() -> io::Result<Terminal> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, SIZE)?;
    let path = ptsname(&master, Vec::new())?;
    Ok(Terminal { master, path })
}
