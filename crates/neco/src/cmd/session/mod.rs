//! `neco session`: which sessions there are, and what was said in them.
//!
//! Reading order: [`args`], [`command`] with [`desk`], [`read`], [`resume`], [`back`] (going back), [`exchanges`], [`port`] (out and in),
//! [`remove`].

mod args;
mod back;
mod command;
mod desk;
mod exchanges;
mod port;
mod read;
mod remove;
mod resume;

pub use args::SessionCommand;
pub use command::run;
pub use resume::reads_as_id;
