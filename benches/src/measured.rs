//! The small process between the benchmark and the program under test.
//!
//! It exists because the kernel counts the memory of whoever starts a program into that program's
//! peak, and because what finished children used is only told as a sum. So the benchmark starts
//! itself anew as this: small, with one child, whose figures it writes into a file.

use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

use crate::clock::Moment;

/// The first argument that makes this program be that process.
pub const MARK: &str = "--measured";

/// What a finished program used.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Used {
    /// Right before it was started.
    pub started: Moment,
    /// Right after its end was seen.
    pub ended: Moment,
    /// Processor time, its own and the system's on its behalf, of it and the children it waited for.
    pub processor: Duration,
    /// The most memory it, or a child it waited for, had at a time, in bytes.
    pub peak: u64,
    /// Its exit code; `None` when a signal ended it.
    pub exit: Option<i32>,
}

/// Runs what `arguments` say: a file for the figures, a program, its arguments.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    let figures = arguments.next().context("no file for the figures")?;
    let program = arguments.next().context("no program")?;
    let mut command = Command::new(&program);
    command.args(arguments);
    let started = Moment::now();
    let mut child = command.spawn().with_context(|| format!("can't start {}", program.display()))?;
    let status = child.wait()?;
    let ended = Moment::now();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let used = Used {
        started,
        ended,
        processor: duration(usage.user_time()) + duration(usage.system_time()),
        // The kernel counts in units of 1024 bytes.
        peak: u64::try_from(usage.max_rss()).unwrap_or_default() * 1024,
        exit: status.code(),
    };
    Ok(fs::write(figures, serde_json::to_vec(&used)?)?)
}

fn duration(time: TimeVal) -> Duration {
    let microseconds = u64::try_from(time.tv_usec()).unwrap_or_default();
    Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or_default()) + Duration::from_micros(microseconds)
}
