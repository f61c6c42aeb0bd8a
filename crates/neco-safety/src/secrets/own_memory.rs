//! Keeps what this process was started with to itself.

use std::io;

/// From now on other processes of the same user can't read the memory and the environment of this
/// one (`/proc/PID/environ`), nor attach to it. Whoever runs as root, or may trace everything, still can.
///
/// What this process reads of itself stays readable to it; programs that it starts are not affected.
/// Fails when the system refuses.
#[cfg(target_os = "linux")]
pub fn hide_own_memory() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Other systems don't show it to begin with, or have no way to ask for it.
/// Never fails.
#[cfg(not(target_os = "linux"))]
pub fn hide_own_memory() -> io::Result<()> {
    Ok(())
}
