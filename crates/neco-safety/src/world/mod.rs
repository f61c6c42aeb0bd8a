//! The world: what a tool is handed to touch anything at all.
//!
//! Invariants: a path reaches a tool only as [`crate::Located`], resolved and inside a root; a process on this machine
//! is started only through [`Spawner`], in its own group, with a scrubbed environment; a web address is asked only
//! through [`Net`], which looks at where it leads. Files and processes may be somebody else's ([`World`]).
//!
//! Reading order: [`world`], [`files`], [`content`], [`process`], [`spawn`], [`net`].

mod content;
mod files;
pub mod net;
mod process;
mod spawn;
#[allow(clippy::module_inception, reason = "the room is named after it")]
mod world;

pub use content::Content;
pub use files::Files;
pub use net::Net;
pub use process::{BoxFuture, Process, Processes, Stops};
pub use spawn::{
    Ending, Exit, Group, Launch, Leftovers, ProcessInput, Progress, Running, SpawnError, Spawner, Stdin, Stop,
};
pub use world::{LocalWorld, World};
