//! What Linux needs beyond the standard library.
//!
//! Reading order: [`session_leader`] and [`waiting`] (starting), [`namespaces`], [`build`] with [`mounts`] (the walls of a box),
//! [`channel`] and [`first_process`] with [`guard`] (inside it), [`privilege`],
//! [`landlock`], [`seccomp`] (the locks), [`descriptor`].

pub(crate) mod build;
pub(crate) mod channel;
pub(crate) mod descriptor;
pub(crate) mod first_process;
mod guard;
pub(crate) mod landlock;
mod mounts;
pub(crate) mod namespaces;
pub(crate) mod privilege;
pub(crate) mod seccomp;
pub(crate) mod session_leader;
pub(crate) mod waiting;
