//! Who is at the other end of a connection of this machine: commands that an agent runs are not served, whatever token
//! they show.
//!
//! On Linux the process is found by its socket. One that can't be found belongs to another user, or lives in a box of its
//! own; its token decides.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

#[cfg(target_os = "linux")]
use crate::remote::peer;

/// Commands by their process, each with the process that started it.
type Commands = Arc<HashMap<u32, u32>>;

/// What was seen of commands; a look at all processes takes some milliseconds, and is for all connections that wait for
/// one.
#[derive(Default)]
pub(crate) struct Lookout(Mutex<Option<(Instant, Commands)>>);

impl Lookout {
    /// Whether the other end of a connection between two addresses of this machine, which was there at a time, is a
    /// command of an agent.
    #[cfg(target_os = "linux")]
    pub fn is_command(&self, peer: SocketAddr, own: SocketAddr, since: Instant) -> bool {
        if !peer.ip().is_loopback() {
            return false;
        }
        let commands = self.commands(since);
        let Some(inode) = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| inode(table, peer, own)) else {
            return false;
        };
        let socket = format!("socket:[{inode}]");
        // What somebody else is just starting has their sockets for a moment, too.
        let is_begun = |parent: u32| !commands.contains_key(&parent) && holds(parent, &socket);
        commands.iter().any(|(pid, parent)| holds(*pid, &socket) && !is_begun(*parent))
    }

    /// Elsewhere nobody can look.
    #[cfg(not(target_os = "linux"))]
    pub fn is_command(&self, _peer: SocketAddr, _own: SocketAddr, _since: Instant) -> bool {
        false
    }

    /// The commands that there were at a time, or begun since.
    #[cfg(target_os = "linux")]
    fn commands(&self, since: Instant) -> Commands {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, commands)) = seen.as_ref().filter(|(at, _)| *at >= since) {
            return Arc::clone(commands);
        }
        let (at, commands) = (Instant::now(), Arc::new(peer::commands()));
        *seen = Some((at, Arc::clone(&commands)));
        commands
    }
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
