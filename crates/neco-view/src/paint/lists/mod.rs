//! Answers of the program as lines: whoever asked, what is listed and shown reads the same.
//!
//! Reading order: [`sessions`] with [`room`], [`search`], [`log`], [`history`], [`exchanges`], [`imported`] and [`setups`], [`workflows`], [`agents`], [`memory`],
//! [`plans`], [`models`], [`keys`], [`rules`], [`settings`], [`servers`], [`skills`], [`plugins`], [`tools`], [`doctor`], [`prompt`].

pub mod agents;
pub mod doctor;
pub mod exchanges;
pub mod history;
pub mod imported;
pub mod keys;
pub mod log;
pub mod memory;
pub mod models;
pub mod plans;
pub mod plugins;
pub mod prompt;
pub mod room;
pub mod rules;
pub mod search;
pub mod servers;
pub mod sessions;
pub mod settings;
pub mod setups;
pub mod skills;
pub mod tools;
pub mod workflows;
