//! Hooks: commands that run at the moments of an agent's work.
//!
//! Invariants: a repository's hook runs only while it is, to the byte, what a person trusted; a hook
//! that hangs, floods, crashes or lies costs at most its time and counts for nothing; matching hooks
//! run together and the strictest word wins; what a hook is told and may answer is the common format
//! of other agents, whatever file it comes from.
//!
//! Reading order: [`hook`] (one hook), [`settings_file`] and [`mod@find`] (where they come from),
//! [`named_files`] and [`fingerprint`] (what trust is in) with [`program_files`] (the same for MCP servers),
//! [`matcher`], [`translate`] (names that hooks know), [`input`], [`run`] (the process), [`output`] (what it said),
//! [`gate`] (what follows).

mod find;
mod fingerprint;
mod gate;
mod hook;
mod input;
mod matcher;
mod named_files;
mod output;
pub(crate) mod program_files;
mod run;
mod settings_file;
mod translate;

pub use find::{Found, find};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use gate::{Hooks, HooksSetup};
pub use hook::{Hook, Origin};
pub use matcher::{Matcher, MatcherError};
pub use output::{Answer, Printed, read};
pub use settings_file::parse;
