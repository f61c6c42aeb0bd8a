//! What a launcher is told: how to close the box around the command that it runs.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use serde::{Deserialize, Serialize};

use crate::boxed::walls::{Walls, any_path, any_paths};
use crate::linux::landlock::Rules;

/// The first argument of a process that is to be a launcher.
pub(crate) const ASKED: &str = "--neco-launch-in-box";

/// The first argument of a process that is to split off launchers.
pub(crate) const WAITS: &str = "--neco-wait-for-orders";

/// The first argument of a process that is to put right what a killed one left; the folder of lists follows.
pub(crate) const PUT_RIGHT: &str = "--neco-put-right";

/// The descriptor on which a launcher finds its channel.
pub(crate) const CHANNEL: i32 = 3;

/// The descriptor on which it finds its order.
pub(crate) const ORDER: i32 = 4;

/// The descriptor on which it finds rules of Landlock that are ready.
pub(crate) const RULES: i32 = 5;

/// Which program this order is for: a launcher of another version does not take it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is to run, of any bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// The first is the name it sees for itself.
    pub(crate) arguments: Vec<CString>,
    /// `NAME=value` entries.
    pub(crate) environment: Vec<CString>,
}

/// An order to a launcher, handed over as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) version: String,
    /// Whether the command is to run in a box made of namespaces.
    pub(crate) in_namespaces: bool,
    /// Folders that must not become repositories by themselves.
    #[serde(with = "any_paths")]
    pub(crate) never_bare: Vec<PathBuf>,
    /// The walls that the launcher builds; nothing where bubblewrap has built them, or there are none.
    pub(crate) walls: Option<Walls>,
    /// Whether standard input is a terminal that is to control the command.
    pub(crate) terminal: bool,
    /// Which files may be touched, as this box sees them; nothing where the kernel has no Landlock.
    pub(crate) files: Option<Rules>,
    /// Whether rules are handed over that are ready.
    pub(crate) has_rules: bool,
    /// Whether TCP and UDP sockets can be made.
    pub(crate) internet: bool,
    pub(crate) unix_sockets: bool,
    /// Whether a proxy waits at the other end of the channel.
    pub(crate) proxy: bool,
    #[serde(with = "any_path")]
    pub(crate) program: PathBuf,
}

impl Order {
    /// The order as a file for the launcher to read: an argument would have to be short. Behind it stands the command
    /// line, whose parts have any bytes but zeros.
    pub(crate) fn written(&self, line: &CommandLine) -> io::Result<OwnedFd> {
        let mut text = serde_json::to_vec(self)?;
        write!(text, "\0{}\0", line.arguments.len())?;
        for part in line.arguments.iter().chain(&line.environment) {
            text.extend_from_slice(part.as_bytes_with_nul());
        }
        let mut file = File::from(memfd_create(c"order", MemfdFlags::CLOEXEC)?);
        file.write_all(&text)?;
        file.rewind()?;
        // Out of the way of the numbers that a launcher's descriptors get.
        Ok(fcntl_dupfd_cloexec(&file, RULES + 1)?)
    }

    /// What was written.
    pub(crate) fn read(mut file: File) -> io::Result<(Self, CommandLine)> {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let mut parts = text.strip_suffix(b"\0").unwrap_or(&text).split(|byte| *byte == 0);
        let order = serde_json::from_slice(parts.next().unwrap_or_default())?;
        let count = parts.next().and_then(|count| std::str::from_utf8(count).ok()?.parse::<usize>().ok());
        let count = count.ok_or_else(|| io::Error::other("the order has no command line"))?;
        let mut parts = parts.map(|part| CString::new(part).unwrap_or_default());
        let arguments = parts.by_ref().take(count).collect();
        Ok((order, CommandLine { arguments, environment: parts.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            has_rules: false,
            internet: false,
            unix_sockets: false,
            proxy: false,
            program: "/bin/sh".into(),
        };
        let odd = CommandLine {
            arguments: vec![c"sh".into(), c"".into(), c"a\xff\n\"".into(), c"".into()],
            environment: vec![c"A=1".into(), c"".into()],
        };
        for line in [odd, CommandLine::default(), CommandLine { arguments: vec![c"".into()], ..Default::default() }] {
            let written = order.written(&line).unwrap();
            assert!(written.as_raw_fd() > ORDER);
            assert_eq!(Order::read(File::from(written)).unwrap(), (order.clone(), line));
        }
        assert!(Order::read(File::from(memfd_create(c"none", MemfdFlags::CLOEXEC).unwrap())).is_err());
    }
}
