//! What one folder brings to the work in it: rules, hooks, definitions, prompts, commands, keys, checkpoints, a
//! sandbox.
//!
//! Invariants: a folder is made once and shared by the sessions in it; it is made anew when its files change, and a
//! broken edit changes nothing; what belongs to the opening of a session is not in here.
//!
//! Reading order: [`workspaces`] (all folders of a process), [`folder`] (one of them) with [`fingerprint`],
//! [`plugged`] (what it would switch on, as far as that is trusted) with [`plugged_item`] and `trust_question` (what is
//! read before it is), [`rules`], [`told_files`], [`own_commands`] with [`opencode_commands`] and [`command_text`], [`keys`], [`checkpoints`],
//! [`sandbox`] with [`boxed_git`], [`servers`] (MCP) with [`server_logins`] and [`wanted_logins`], [`told_before`] (warnings that are told once).

pub mod boxed_git;
pub mod checkpoints;
pub(crate) mod command_text;
pub mod fingerprint;
pub mod folder;
pub mod keys;
mod opencode_commands;
pub mod own_commands;
pub mod plugged;
pub(crate) mod plugged_item;
pub mod rules;
pub mod sandbox;
pub(crate) mod server_logins;
pub mod servers;
pub mod told_before;
pub mod told_files;
mod trust_question;
pub(crate) mod wanted_logins;
pub mod workspaces;

pub use folder::{FolderState, Workspace};
pub use workspaces::Workspaces;
