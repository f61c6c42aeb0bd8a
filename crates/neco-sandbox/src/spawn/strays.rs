//! Finds processes that left the group of their command, by a mark in their environment.
//!
//! A process that calls `setsid` or becomes a daemon is in nobody's group. What a command leaves
//! behind on purpose when it ends by itself may stay (a database that was started, a build server);
//! when it is killed, what it started goes with it.
//!
//! Deliberately absent: adopting orphans (`PR_SET_CHILD_SUBREAPER`). It would make this process the
//! parent of every orphan of everything it runs, without telling whose they are.

use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that carries the mark.
const NAME: &str = "NECO_COMMAND";

/// What one command and everything it starts have in their environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark that no other command has.
    pub(super) fn fresh() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("{NAME}={:x}-{count:x}-{:x}", std::process::id(), now.as_nanos()))
    }

    /// The name of the variable.
    pub(super) fn name() -> &'static str {
        NAME
    }

    /// The entry for the environment.
    pub(super) fn entry(&self) -> &str {
        &self.0
    }
}

/// Kills every process that has the mark, on a thread of its own: all processes are looked at.
pub(super) fn kill_soon(mark: Mark) {
    let thread = std::thread::Builder::new().name("neco-strays".to_owned());
    if let Err(error) = thread.spawn(move || kill(&mark)) {
        tracing::warn!(%error, "what left the group of a killed command was not looked for");
    }
}

/// Kills every process that has the mark. One that emptied its environment is not found. It may block.
#[cfg(target_os = "linux")]
pub(super) fn kill(mark: &Mark) {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    // What a stray starts while they are killed is found by looking again.
    for _ in 0..3 {
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let mut found = false;
        for pid in numbers.filter_map(Pid::from_raw) {
            // The descriptor first: what is read after it and then killed is one and the same process.
            let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { continue };
            if has(pid.as_raw_nonzero().get(), mark) && pidfd_send_signal(&process, Signal::KILL).is_ok() {
                found = true;
            }
        }
        if !found {
            return;
        }
    }
}

/// A process that is dying has no environment any more.
#[cfg(target_os = "linux")]
fn has(pid: i32, mark: &Mark) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.0.as_bytes())
}

/// Only Linux shows the environment of other processes.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill(_mark: &Mark) {}
