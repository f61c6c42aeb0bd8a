//! Who is at the other end of a connection of this machine: commands that an agent runs are not served, whatever token
//! they show.
//!
//! On Linux the process is found by its socket. One that can't be found belongs to another user, or lives in a box of its
//! own; its token decides.

use std::net::SocketAddr;

#[cfg(target_os = "linux")]
use crate::remote::peer;

/// Whether the other end of a connection between two addresses of this machine is a command of an agent.
#[cfg(target_os = "linux")]
pub(crate) fn is_command(peer: SocketAddr, own: SocketAddr) -> bool {
    if !peer.ip().is_loopback() {
        return false;
    }
    let Some(inode) = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| inode(table, peer, own)) else {
        return false;
    };
    let socket = format!("socket:[{inode}]");
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let numbers = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    // Few are commands, and a window may have thousands of files open.
    numbers.filter(|pid| peer::is_command(*pid)).any(|pid| holds(pid, &socket) && !is_just_begun(pid, &socket))
}

/// Whether a process still has what whoever starts it has open, who is no command.
#[cfg(target_os = "linux")]
fn is_just_begun(pid: u32, socket: &str) -> bool {
    peer::parent(pid).is_some_and(|parent| !peer::is_command(parent) && holds(parent, socket))
}

/// Elsewhere nobody can look.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_command(_peer: SocketAddr, _own: SocketAddr) -> bool {
    false
}

/// The number of the socket that connects the two, of a table whose lines have the addresses as hexadecimal digits. The
/// ports are enough: one of them is ours, and the address is this machine's.
#[cfg(target_os = "linux")]
fn inode(table: &str, peer: SocketAddr, own: SocketAddr) -> Option<String> {
    let text = std::fs::read_to_string(table).ok()?;
    let port = |address: &str| u16::from_str_radix(address.rsplit(':').next()?, 16).ok();
    text.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = port(fields.get(1)?)? == peer.port() && port(fields.get(2)?)? == own.port();
        is_it.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    })
}

#[cfg(target_os = "linux")]
fn holds(pid: u32, socket: &str) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).any(|target| target.as_os_str() == socket)
}
