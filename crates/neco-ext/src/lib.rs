//! What people plug in: hooks and MCP servers.
//!
//! A hook is a command of the user's, or of a repository that the user trusts. It is asked at the
//! moments of an agent's work through the agent's [`neco_agent::Gate`]; nothing it does can break
//! the agent, and nothing it says can open what the policy closes.
//!
//! An MCP server is a program or an address that offers tools; see [`mcp`] for what holds of them.
//!
//! Reading order: [`hooks`], [`mcp`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod hooks;
pub mod mcp;

pub use hooks::{Hook, Hooks, HooksSetup};
