//! Keys, and what came of things, turned into changes of the window and into things to be done.
//!
//! Invariants: nothing here waits; what takes time is an [`Effect`], and what came of it is [`News`].
//!
//! Reading order: [`effect`], [`keys`] (the field) with [`next_mode`] (Shift-Tab), [`sending`] (what is written leaves),
//! [`completing`] (files and commands), [`taking_back`] (what waits), [`asked`] (questions) with [`silence`] (where no model answers), [`picking`] (lists) with [`settings`], [`going_back`], [`watching`] (one of the other
//! agents), [`menu`] (what can be done to one), [`background`] (commands that go on there), [`detaching`] (the session goes there), [`stopping`], [`commands`] (what begins with a slash), [`logging_in`], [`news`].

pub(crate) mod asked;
pub(crate) mod background;
pub(crate) mod commands;
mod completing;
mod detaching;
mod effect;
pub(crate) mod going_back;
pub(crate) mod keys;
mod logging_in;
mod menu;
pub(crate) mod news;
mod next_mode;
pub(crate) mod picking;
mod reports;
mod sending;
mod session_menu;
mod settings;
mod silence;
pub(crate) mod stopping;
pub(crate) mod taking_back;
mod watching;

pub use completing::Offers;
pub use effect::{Effect, News, Unsent};
pub(crate) use sending::{may_be_kept, say_first};
pub use taking_back::ComingBack;
