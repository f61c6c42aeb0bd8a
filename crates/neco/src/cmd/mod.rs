//! Everything but a run: subcommands, one file or folder each.
//!
//! Reading order: [`config`], [`session`] with [`when`], [`doctor`], [`demo`].

pub mod config;
pub mod demo;
pub mod doctor;
pub mod session;
mod when;
