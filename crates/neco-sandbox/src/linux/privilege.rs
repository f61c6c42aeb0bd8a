//! Gives up every privilege, and makes sure that none is left.
#![allow(unsafe_code)]

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};

/// The most processes that one command may have at a time, inside a user namespace of its own.
const PROCESSES: u64 = 4096;

/// Drops all capabilities, also those that root would get back by running a program.
pub(crate) fn drop_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    for number in 0..64 {
        // SAFETY: takes numbers only. Beyond the first unknown one there are no others.
        match unsafe { libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) } {
            1 => {
                // SAFETY: takes numbers only. It fails for those that are not ours to drop; what matters is
                // checked below.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) };
            }
            0 => {}
            _ => break,
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    check_capabilities()?;
    check_no_new_privileges()
}

/// Makes sure that there is no capability.
pub(crate) fn check_capabilities() -> io::Result<()> {
    let sets = capabilities(None)?;
    if !(sets.effective | sets.permitted | sets.inheritable).is_empty() {
        return Err(io::Error::other("capabilities are left"));
    }
    Ok(())
}

fn check_no_new_privileges() -> io::Result<()> {
    if !rustix::thread::no_new_privs()? {
        return Err(io::Error::other("no_new_privs is not set"));
    }
    Ok(())
}

/// No memory dumps, which could hold secrets; and not all the processes there can be.
pub(crate) fn limit(own_user_namespace: bool) {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    // A limit that can't be set is not worth a command that does not run.
    let _ = setrlimit(Resource::Core, none);
    if own_user_namespace {
        let had = getrlimit(Resource::Nproc);
        let least = |limit: Option<u64>| Some(limit.unwrap_or(PROCESSES).min(PROCESSES));
        let _ = setrlimit(Resource::Nproc, Rlimit { current: least(had.current), maximum: least(had.maximum) });
    }
}
