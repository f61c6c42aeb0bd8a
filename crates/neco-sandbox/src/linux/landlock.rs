//! Landlock: which files a program may read and write, enforced by the kernel on top of everything else.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};
use serde::{Deserialize, Serialize};

use crate::boxed::walls::any_paths;

/// What this was written for; older kernels enforce what they know of it.
const NEWEST: ABI = ABI::V7;

/// Without it files outside could be cut to nothing.
pub(crate) const OLDEST_OF_USE: i32 = 3;

/// What a program may do to files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rules {
    /// Files and folders that may be read and run, with everything below.
    #[serde(with = "any_paths")]
    pub(crate) readable: Vec<PathBuf>,
    /// Files and folders that may be changed, with everything below.
    #[serde(with = "any_paths")]
    pub(crate) writable: Vec<PathBuf>,
    /// Devices that may be written to but neither made nor removed.
    #[serde(with = "any_paths")]
    pub(crate) devices: Vec<PathBuf>,
    /// Whether TCP connections are refused too.
    pub(crate) no_tcp: bool,
}

/// Which version of Landlock the kernel has; 0 when there is none or it is switched off.
pub(crate) fn version() -> i32 {
    const ASK_FOR_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the call takes no structure and only gives a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_FOR_VERSION) };
    i32::try_from(version).unwrap_or(0).max(0)
}

/// Rules that are ready, for this process or another, as often as need be.
/// Fails when the kernel enforces none of it.
pub(crate) fn prepared(rules: &Rules) -> io::Result<OwnedFd> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket | Scope::Signal));
    let ruleset = match rules.no_tcp {
        true => ruleset.and_then(|ruleset| ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)),
        false => ruleset,
    };
    let mut created = ruleset.and_then(Ruleset::create).map_err(io::Error::other)?;
    let read = AccessFs::from_read(NEWEST);
    let devices = read | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    for (paths, access) in
        [(&rules.readable, read), (&rules.writable, AccessFs::from_all(NEWEST)), (&rules.devices, devices)]
    {
        for path in paths {
            created = allow(created, path, access)?;
        }
    }
    Option::<OwnedFd>::from(created).ok_or_else(|| io::Error::other("the kernel does not enforce Landlock"))
}

/// Applies rules to this thread and all it starts. Can't be undone; `no_new_privs` must be set.
pub(crate) fn restrict(rules: &OwnedFd) -> io::Result<()> {
    // SAFETY: takes a descriptor that lives here, and a number.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What is not there needs no rule. What can be done to folders alone counts for nothing in the rule of a file.
fn allow(created: RulesetCreated, path: &PathBuf, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(created) };
    created.add_rule(PathBeneath::new(descriptor, access)).map_err(io::Error::other)
}
