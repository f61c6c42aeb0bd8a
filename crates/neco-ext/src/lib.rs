//! What people plug in: hooks, MCP servers, scripted tools, skills and plugins.
//!
//! A hook is a command of the user's, or of a repository that the user trusts. It is asked at the
//! moments of an agent's work through the agent's [`neco_agent::Gate`]; nothing it does can break
//! the agent, and nothing it says can open what the policy closes.
//!
//! An MCP server is a program or an address that offers tools; see [`mcp`] for what holds of them.
//!
//! A scripted tool is a script that a model calls; see [`scripts`]. A skill is a folder with a guide for a kind of task;
//! see [`skills`] for what holds of them. A plugin brings all of these as one; see [`plugins`].
//!
//! Reading order: [`hooks`], [`mcp`], [`scripts`], [`arguments`], [`folder_files`], [`skills`], [`plugins`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod arguments;
pub mod folder_files;
pub mod hooks;
pub mod mcp;
pub mod plugins;
pub mod scripts;
pub mod skills;

pub use hooks::{Hook, Hooks, HooksSetup};
