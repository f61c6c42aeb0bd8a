//! What a launcher is told: how to close the box around the command that it runs.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::linux::landlock::Rules;

/// The first argument of a process that is to be a launcher.
pub(crate) const ASKED: &str = "--neco-launch-in-box";

/// The descriptor on which a launcher finds its channel.
pub(crate) const CHANNEL: i32 = 3;

/// Which program this order is for: a launcher of another version does not take it.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// An order to a launcher, handed over as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Whom it is for.
    pub(crate) version: String,
    /// Whether the launcher is the first process of a box made of namespaces.
    pub(crate) first_in_box: bool,
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
    /// The arguments that make a process a launcher with this order; those of the command follow.
    pub(crate) fn arguments(&self) -> serde_json::Result<[OsString; 2]> {
        Ok([ASKED.into(), serde_json::to_string(self)?.into()])
    }
}
