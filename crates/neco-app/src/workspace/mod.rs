//! What one folder brings to the work in it: rules, hooks, definitions, prompts, commands, keys, checkpoints, a
//! sandbox.
//!
//! Reading order: [`plugged`] (what it would switch on, as far as that is trusted), [`rules`], [`told_files`],
//! [`own_commands`], [`keys`], [`checkpoints`], [`sandbox`].

pub mod checkpoints;
pub mod keys;
pub mod own_commands;
pub mod plugged;
pub mod rules;
pub mod sandbox;
pub mod told_files;
