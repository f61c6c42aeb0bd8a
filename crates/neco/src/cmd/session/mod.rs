//! `neco session`: which sessions there are, and what was said in them.
//!
//! Reading order: [`command`], [`list`], [`show`].

mod command;
mod list;
mod show;

pub use command::run;
