//! A session as one HTML page: no script, no network, light and dark, foldable, printable.
//!
//! Invariants: only literals of this room are markup; everything that comes from an event goes through `Page::text`, which
//! takes out what steers a terminal and escapes the rest. A policy in the head forbids scripts and addresses altogether,
//! should that ever fail.
//!
//! Reading order: `page` (the only way to write), [`painter`] (the whole), `card` (calls and changes), `asides` (everything
//! else), `prose` (markdown), `style`.

mod asides;
mod card;
mod page;
pub mod painter;
mod prose;
mod style;

pub use painter::Html;
