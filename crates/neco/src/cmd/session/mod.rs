//! `neco session`: which sessions there are, and what was said in them.
//!
//! Reading order: [`command`] with [`desk`], [`show`], [`tree`], [`search`], [`resume`], [`attach`], [`fork`], [`back`]
//! (going back), [`log`], [`diff`], [`mod@export`], [`import`], [`remove`], [`confirm`].

mod attach;
mod back;
mod command;
mod confirm;
mod desk;
mod diff;
mod export;
mod fork;
mod import;
mod log;
mod remove;
mod resume;
mod search;
mod show;
mod tree;

pub use command::run;
pub use desk::Desk;
pub use export::export;
use neco_view::paint::lists::sessions as list;
