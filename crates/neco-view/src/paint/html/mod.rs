//! Blocks as one HTML page: no script, no network, light and dark, foldable, printable.
//!
//! Invariants: only literals of this room are markup; everything that comes from an event goes through [`Page::text`], which
//! takes out what steers a terminal and escapes the rest. A policy in the head forbids scripts and addresses altogether,
//! should that ever fail.
//!
//! Reading order: [`page`] (the only way to write), [`prose`] (markdown), [`style`].

pub mod page;
pub mod prose;
pub mod style;

pub use page::Page;
