//! Everything but a run: subcommands, one file or folder each.
//!
//! Reading order: [`program`] (how it is asked) with [`confirm`] and [`editor`], [`config`], [`policy`], [`trust`], [`auth`], [`model`], [`mcp`] with [`mcp_add`], [`mcp_login`], [`mcp_conformance`] and [`mcp_serve`], [`acp`], [`serve`] with [`serve_token`], [`background`] and [`web`], [`skill`], [`plugin`], [`tools`], [`session`], [`memory`], [`plan`], [`agents`], [`workflow`], [`prompt`], [`doctor`], [`demo`], [`eval`], [`import`], [`init`], [`shell`].

pub mod acp;
pub mod agents;
pub mod auth;
pub mod background;
pub mod config;
mod confirm;
pub mod demo;
pub mod doctor;
mod editor;
pub mod eval;
pub mod import;
pub mod init;
pub mod mcp;
mod mcp_add;
mod mcp_conformance;
mod mcp_login;
pub mod mcp_serve;
pub mod memory;
pub mod model;
pub mod plan;
pub mod plugin;
pub mod policy;
pub(crate) mod program;
pub mod prompt;
pub mod serve;
pub mod serve_token;
pub mod session;
pub mod shell;
pub mod skill;
mod take_over;
pub mod tools;
pub mod trust;
pub mod web;
pub mod workflow;
