//! The program without a face: what work in a folder is made of, and the answers to what a front end can ask.
//!
//! Nothing here prints, asks a person or knows a terminal.
//!
//! Reading order: [`workspace`] (what one folder brings), [`services`] (what its sessions stand on), [`opening`] (how one
//! is opened) with [`loosening`] (what of it holds where), [`first_model`], [`picture`], [`session_models`], [`edits`] and [`running_sessions`], [`editor_world`] (an editor's part of it) with [`open_texts`] and [`call_processes`], [`mod@app`] (which call is answered where) with [`watching`]
//! and [`shared`] (of a process that opens sessions) with [`open_sessions`], [`kept_openings`], [`notices`] and [`other_processes`], [`sessions`], [`workflows`],
//! [`agents`], [`memory`], [`plans`], [`models`], [`rules`], [`settings`], [`doctor`], [`keys`] with [`login`], [`trust`], [`project`], [`files`],
//! [`folders`], [`commands`], [`skills`] and [`plugins`] with [`fetched`], [`tools`] with [`named_tools`], [`mcp`] with [`mcp_login`], [`mcp_settings`] and [`mcp_use`], [`persons_shell`] with [`shell`], [`prompt`], [`setups`] (those of other agents), [`usage`], [`eval`], [`disk`], [`log_file`], [`mod@error`].

pub mod agents;
pub mod app;
mod call_processes;
mod commands;
pub mod disk;
mod doctor;
mod editor_world;
mod edits;
pub mod error;
pub mod eval;
mod fetched;
mod files;
mod first_model;
pub mod folders;
pub mod kept_openings;
mod keys;
pub mod log_file;
pub mod login;
pub mod loosening;
mod mcp;
mod mcp_login;
mod mcp_settings;
mod mcp_use;
pub mod memory;
mod models;
mod named_tools;
mod notices;
mod open_sessions;
mod open_texts;
pub mod opening;
pub mod other_processes;
mod paging;
pub mod persons_shell;
pub mod picture;
pub mod plans;
mod plugins;
mod project;
pub mod prompt;
pub mod rules;
mod running_sessions;
pub mod services;
mod session_models;
pub mod sessions;
mod settings;
pub mod setups;
pub mod shared;
mod shell;
mod skill_changes;
mod skills;
pub mod tools;
mod trust;
mod usage;
mod watching;
pub mod workflows;
pub mod workspace;

pub use app::{LocalApp, StorelessApp};
