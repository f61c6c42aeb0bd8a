//! What Linux needs beyond the standard library.
//!
//! Reading order: [`session_leader`] (starting), [`channel`] and [`first_process`] (inside a box), [`privilege`],
//! [`landlock`] with [`landlock_version`], [`seccomp`] (the locks), [`descriptor`].

pub(crate) mod channel;
pub(crate) mod descriptor;
pub(crate) mod first_process;
pub(crate) mod landlock;
mod landlock_version;
pub(crate) mod privilege;
pub(crate) mod seccomp;
pub(crate) mod session_leader;
