//! Answers of the program as lines: whoever asked, what is listed and shown reads the same.
//!
//! Reading order: [`sessions`], [`workflows`], [`agents`], [`memory`], [`models`], [`rules`], [`settings`], [`doctor`],
//! [`prompt`].

pub mod agents;
pub mod doctor;
pub mod memory;
pub mod models;
pub mod prompt;
pub mod rules;
pub mod sessions;
pub mod settings;
pub mod workflows;
