//! What a launcher is told: how to close the box around the command that it runs.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use serde::{Deserialize, Serialize};

use super::linux::landlock::Rules;
use super::walls::Walls;

/// The first argument of a process that is to be a launcher; those of the command follow.
pub(crate) const ASKED: &str = "--neco-launch-in-box";

/// The first argument of a process that is to put right what a killed one left; the folder of lists follows.
pub(crate) const PUT_RIGHT: &str = "--neco-put-right";

/// The descriptor on which a launcher finds its channel.
pub(crate) const CHANNEL: i32 = 3;

/// The descriptor on which it finds its order.
pub(crate) const ORDER: i32 = 4;

/// Which program this order is for: a launcher of another version does not take it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An order to a launcher, handed over as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Whom it is for.
    pub(crate) version: String,
    /// Whether the command is to run in a box made of namespaces.
    pub(crate) in_namespaces: bool,
    /// Folders that must not become repositories by themselves.
    pub(crate) never_bare: Vec<PathBuf>,
    /// The walls that the launcher builds; nothing where bubblewrap has built them, or there are none.
    pub(crate) walls: Option<Walls>,
    /// Whether standard input is a terminal that is to control the command.
    pub(crate) terminal: bool,
    /// Which files may be touched; nothing where the kernel has no Landlock.
    pub(crate) files: Option<Rules>,
    /// Whether TCP and UDP sockets can be made.
    pub(crate) internet: bool,
    /// Whether Unix sockets can be made.
    pub(crate) unix_sockets: bool,
    /// Whether a proxy waits at the other end of the channel.
    pub(crate) proxy: bool,
    /// The program to run.
    pub(crate) program: PathBuf,
}

impl Order {
    /// The order as a file for the launcher to read: an argument would have to be short.
    ///
    /// # Errors
    /// When there is no memory or no descriptor left.
    pub(crate) fn written(&self) -> io::Result<OwnedFd> {
        let mut file = File::from(memfd_create(c"order", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(self)?)?;
        file.rewind()?;
        // Out of the way of the numbers that a launcher's descriptors get.
        Ok(fcntl_dupfd_cloexec(&file, ORDER + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    #[test]
    fn an_order_of_any_length_arrives() {
        let readable = (0..30_000).map(|number| PathBuf::from(format!("/a/folder/{number}"))).collect();
        let order = Order {
            version: VERSION.to_owned(),
            in_namespaces: false,
            never_bare: Vec::new(),
            walls: None,
            terminal: false,
            files: Some(Rules { readable, ..Rules::default() }),
            internet: false,
            unix_sockets: false,
            proxy: false,
            program: "/bin/sh".into(),
        };
        let written = order.written().unwrap();
        assert!(written.as_raw_fd() > ORDER);
        let mut text = Vec::new();
        File::from(written).read_to_end(&mut text).unwrap();
        assert_eq!(serde_json::from_slice::<Order>(&text).unwrap(), order);
    }
}
