//! The window as rows: what is alive, what is asked, the panels, the field, the status line.
//!
//! Invariants: no row is wider than the terminal, no frame higher; the field, the status line and the keys of a
//! question have room before anything else does.
//!
//! Reading order: [`status`], [`field`], [`work`] (what goes on, and what waits), [`frame`], [`crawl`] (slow lines).

mod crawl;
mod field;
mod frame;
mod status;
mod work;

pub use crawl::Leaving;
pub use status::told;
pub(crate) use work::before_keys;
