//! The world: what a tool is handed to touch anything at all.
//!
//! Invariants: a path reaches a tool only as [`crate::Located`], resolved and inside a root; a process is
//! started only through [`Spawner`], in its own group, with a scrubbed environment.

mod files;
mod spawn;

pub use files::Files;
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
}
