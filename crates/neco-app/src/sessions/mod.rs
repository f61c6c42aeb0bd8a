//! The sessions there are.
//!
//! Reading order: [`mod@list`], [`mod@fork`].

mod fork;
mod list;

pub(crate) use fork::fork;
pub(crate) use list::list;
pub use list::row;
