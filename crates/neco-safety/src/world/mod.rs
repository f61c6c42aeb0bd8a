//! The world: what a tool is handed to touch anything at all.
//!
//! Invariants: a path reaches a tool only as [`crate::Located`], resolved and inside a root; a process is started only
//! through [`Processes`], a web address is asked only through [`Net`], which looks at where it leads. Files and
//! processes may be somebody else's ([`World`]).
//!
//! Reading order: [`world`], [`files`], [`launch`], [`process`], [`denial`], [`net`].

pub mod denial;
mod files;
mod launch;
pub mod net;
mod process;
#[allow(clippy::module_inception, reason = "the room is named after it")]
mod world;

pub use files::Files;
pub use launch::{Allowance, Freedom, Launch, Leftovers, SpawnError, Stdin};
pub use net::Net;
pub use process::{BoxFuture, Ending, Exit, Process, ProcessInput, Processes, Progress, Stop, Stops};
pub use world::Content;
pub use world::World;
