//! The world: what a tool is handed to touch anything at all.
//!
//! Invariants: a path reaches a tool only as [`crate::Located`], resolved and inside a root; a process is
//! started only through [`Spawner`], in its own group, with a scrubbed environment; a web address is asked
//! only through [`Net`], which looks at where it leads.

mod files;
pub mod net;
mod spawn;

pub use files::Files;
pub use net::Net;
pub use spawn::{
    Ending, Exit, Group, Launch, Leftovers, ProcessInput, Progress, Running, SpawnError, Spawner, Stdin, Stop,
};

/// The capabilities of one agent's tools.
#[derive(Debug)]
pub struct World {
    /// Files inside the roots.
    pub files: Files,
    /// Processes.
    pub spawn: Spawner,
    /// The network.
    pub net: Net,
}
