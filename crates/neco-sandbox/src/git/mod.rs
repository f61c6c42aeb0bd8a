//! Git repositories: what in them decides what git runs, before a command and after it.
//!
//! Invariant: what leads git somewhere is read byte for byte as git reads it.
//!
//! Reading order: [`linked`], [`places`], [`view`] (in a box); [`check`], [`config`], [`mod@todo`], [`links`], [`index`] with [`entries`],
//! [`bare`] (after it).

pub(crate) mod bare;
pub(crate) mod check;
mod config;
mod entries;
pub(crate) mod index;
pub(crate) mod linked;
mod links;
mod places;
pub(crate) mod todo;
pub(crate) mod view;
