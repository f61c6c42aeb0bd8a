//! The window as rows: what is alive, what is asked, the panels, the field, the status line.
//!
//! Invariants: no row is wider than the terminal, no frame higher; the field, the status line and the keys of a
//! question have room before anything else does.
//!
//! Reading order: [`status`], [`frame`], [`crawl`] (slow lines).

mod crawl;
mod frame;
mod status;

pub use crawl::Leaving;
pub(crate) use frame::before_keys;
pub use status::told;
