//! Where the things are that the attempts are made on.

use std::path::PathBuf;

use serde::Deserialize;

/// Told by the test that runs the probe.
#[derive(Deserialize)]
pub struct Places {
    /// Where writing works.
    pub workspace: PathBuf,
    /// A folder that belongs to the same user, outside.
    pub outside: PathBuf,
    /// The home folder.
    pub home: PathBuf,
    /// The process that runs the test.
    pub outer_pid: i32,
    /// A TCP port on the machine's loopback where someone listens.
    pub tcp_port: u16,
    /// A UDP port there.
    pub udp_port: u16,
    /// A Unix socket on which someone listens, like that of a container engine.
    pub unix_socket: PathBuf,
    /// One that takes datagrams.
    pub datagram_socket: PathBuf,
    /// The name of an abstract one.
    pub abstract_socket: String,
    /// Whose death would be a success.
    pub victim_pid: i32,
}
