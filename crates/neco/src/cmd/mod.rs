//! Everything but a run: subcommands, one file or folder each.
//!
//! Reading order: [`config`], [`session`], [`doctor`], [`demo`].

pub mod config;
pub mod demo;
pub mod doctor;
pub mod session;
