//! Who is at the other end of a connection of this machine: commands that an agent runs are not served, whatever token
//! they show.
//!
//! On Linux the process is found by its socket. One that can't be found belongs to another user, or lives in a box of its
//! own; its token decides. A socket that nobody has any more is not served.

use std::collections::HashMap;
#[cfg(target_os = "linux")]
use std::net::IpAddr;
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
    /// Whether the other end of a connection, which was there at a time, is a command of an agent, or of this machine
    /// and gone already: then it may have been one.
    #[cfg(target_os = "linux")]
    pub fn is_command(&self, peer: SocketAddr, own: SocketAddr, since: Instant) -> bool {
        let ends = (end(peer), end(own));
        let is_here = ends.0.0.is_loopback() || ends.0.0 == ends.1.0;
        let found = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| inode(table, ends));
        let Some(inode) = found else { return is_here };
        if inode == "0" {
            return true;
        }
        let commands = self.commands(since);
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

/// One end of a connection, the same however it is written.
#[cfg(target_os = "linux")]
type End = (IpAddr, u16);

#[cfg(target_os = "linux")]
fn end(address: SocketAddr) -> End {
    (address.ip().to_canonical(), address.port())
}

/// The number of the socket that connects the two, of a table of sockets of this machine; `0` for one that no process has
/// any more.
#[cfg(target_os = "linux")]
fn inode(table: &str, (peer, own): (End, End)) -> Option<String> {
    let text = std::fs::read_to_string(table).ok()?;
    text.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = read_end(fields.get(1)?)? == peer && read_end(fields.get(2)?)? == own;
        is_it.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    })
}

/// An end as tables have it: hexadecimal digits, the address in groups of four bytes in the order of this machine.
#[cfg(target_os = "linux")]
fn read_end(words: &str) -> Option<End> {
    let (address, port) = words.split_once(':')?;
    let group = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    let groups = (0..address.len() / 8).map(group).collect::<Option<Vec<[u8; 4]>>>()?.concat();
    let address = match <[u8; 4]>::try_from(groups.as_slice()) {
        Ok(four) => IpAddr::from(four),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(groups.as_slice()).ok()?),
    };
    Some((address.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(target_os = "linux")]
fn holds(pid: u32, socket: &str) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok()).any(|target| target.as_os_str() == socket)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn whoever_sends_and_is_gone_is_not_served() {
        for address in ["127.0.0.1:0", "[::1]:0", "0.0.0.0:0"] {
            // Not every machine has every kind of address.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let host = if address.starts_with('[') { "::1" } else { "127.0.0.1" };
            let client = TcpStream::connect((host, port)).unwrap();
            let (stream, peer) = listener.accept().unwrap();
            let (own, lookout) = (stream.local_addr().unwrap(), Lookout::default());
            assert!(!lookout.is_command(peer, own, Instant::now()), "{address}");
            drop(client);
            assert!(lookout.is_command(peer, own, Instant::now()), "{address}");
        }
    }

    #[test]
    fn another_address_with_the_same_port_is_another_end() {
        let elsewhere: SocketAddr = "192.0.2.1:7".parse().unwrap();
        let own: SocketAddr = "127.0.0.1:9".parse().unwrap();
        assert!(!Lookout::default().is_command(elsewhere, own, Instant::now()), "another machine");
        let mapped: SocketAddr = "[::ffff:127.0.0.1]:7".parse().unwrap();
        assert!(Lookout::default().is_command(mapped, own, Instant::now()), "this machine, and nobody is there");
        assert_ne!(read_end("0200007F:0007"), read_end("0100007F:0007"));
        assert_eq!(read_end("0000000000000000FFFF00000100007F:0007"), read_end("0100007F:0007"));
        assert_eq!(read_end("7F:7"), None);
    }
}
