//! A process in namespaces of its own: the beginning of a box.
#![allow(unsafe_code)]

use std::process::exit;
use std::{fs, io};

use rustix::net::{AddressFamily, SocketType, socket};

use super::first_process::let_go_of_streams;

/// Whether the box has a network of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Net {
    /// Nothing but a loopback of its own.
    Own,
    /// The machine's.
    Machines,
}

/// Splits this process, which must have one thread. The one that returns is the first process in new
/// namespaces, with every capability in them and none outside; the other waits for its end and then
/// ends in the same way.
pub(crate) fn enter(net: Net) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let own_net = if net == Net::Own { libc::CLONE_NEWNET } else { 0 };
    let flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP
        | own_net
        | libc::SIGCHLD;
    // SAFETY: this process has one thread and asks for a copy of its memory, as `fork` does.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) } {
        -1 => {
            let error = io::Error::last_os_error();
            // What the system says there is about disks.
            let limited = error.raw_os_error() == Some(libc::ENOSPC);
            let why = if limited { "a limit in /proc/sys/user is reached or 0".to_owned() } else { error.to_string() };
            Err(io::Error::new(error.kind(), format!("namespaces can't be had: {why}")))
        }
        0 => {
            be_oneself(user.as_raw(), group.as_raw())?;
            rustix::system::sethostname(b"neco")?;
            if net == Net::Own { start_loopback() } else { Ok(()) }
        }
        first => wait_for(first as libc::pid_t),
    }
}

/// In the new namespace the user has the same number as outside, and there is nobody else.
fn be_oneself(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// A new network has a loopback, which sleeps. Its address comes with its waking.
fn start_loopback() -> io::Result<()> {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut name = [0; libc::IFNAMSIZ];
    name[0] = b'l' as libc::c_char;
    name[1] = b'o' as libc::c_char;
    let up = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    let request = libc::ifreq { ifr_name: name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: up } };
    // SAFETY: the request is whole and outlives the call, which reads a name and flags from it.
    let result =
        unsafe { libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(&any), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The process that everybody outside knows. It holds nothing open, so that an output is seen to end.
fn wait_for(first: libc::pid_t) -> ! {
    let_go_of_streams();
    // SAFETY: closes numbers that nothing in this process uses any more.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    let mut status = 0;
    loop {
        // SAFETY: writes the status into a variable that lives here.
        let ended = unsafe { libc::waitpid(first, &raw mut status, 0) };
        if ended == first {
            exit(if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) });
        }
        if ended == -1 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            exit(1);
        }
    }
}
