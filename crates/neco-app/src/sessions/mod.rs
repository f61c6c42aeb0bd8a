//! The sessions there are.
//!
//! Reading order: [`mod@list`], [`mod@fork`], [`mod@export`], [`mod@import`].

mod export;
mod fork;
mod import;
mod list;

pub(crate) use export::export;
pub(crate) use fork::fork;
pub(crate) use import::{find_foreign, import};
pub(crate) use list::list;
pub use list::row;
