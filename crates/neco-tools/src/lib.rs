//! The hands: every built-in tool that touches the outside world, one file each.
//!
//! A tool knows no agent: what it needs it is handed, what it wants to say it returns. Tools of one
//! agent share state (which files were read, where the shell stands, what runs in the background)
//! through what [`builtin`] builds for that agent.
//!
//! Reading order: [`builtin`] (the one list), [`files`], [`shell`], [`git`], [`code`], [`diagnostics`], [`web`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod builtin;
pub mod code;
pub mod diagnostics;
pub mod files;
pub mod git;
pub mod shell;
pub mod web;
