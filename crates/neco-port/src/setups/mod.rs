//! Set-ups of other agents, read from their files: what there is in them, and what each piece of it is here.
//!
//! Invariants: nothing is written, neither there nor here. No value of a key leaves a set-up: where one stands, the name
//! of a variable takes its place. What a repository brings stays with that repository, so that trust is asked for as
//! before. What can't be read is told, and the rest goes on. No
//! setting passes in silence: what nothing was made of is told.
//!
//! Reading order: [`piece`] (what a set-up is made of), [`places`] (which set-ups there are), [`reading`] (files, with
//! bounds) with [`relaxed`] (JSON as people write it), [`taken`] (what is taken of settings, and what is left),
//! [`references`] (names in the place of secrets), [`servers`], [`permissions`], [`models`], [`texts`] (commands, agents,
//! skills, rules, memory), [`hooks`]; then one file an agent: [`claude_code`] with [`claude_plugins`], [`codex`], [`gemini`], [`opencode`],
//! [`cursor`], [`openclaw`].

mod claude_code;
mod claude_plugins;
mod codex;
mod cursor;
mod gemini;
mod hooks;
mod models;
mod openclaw;
mod opencode;
mod permissions;
pub mod piece;
pub mod places;
mod reading;
mod references;
mod relaxed;
mod servers;
mod taken;
mod texts;

pub use piece::{Level, Piece, Take, WantedPlugin};
pub use places::found;
pub use reading::read;
pub use relaxed::parse as parse_relaxed;
