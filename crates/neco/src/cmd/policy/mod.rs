//! `neco policy`: which rules are in force, what they come to, and whether they say what is meant.
//!
//! Reading order: [`mod@run`], [`list`], [`explain`], [`mod@test`], [`remove`].

mod explain;
mod list;
mod remove;
mod run;
mod test;

pub use list::as_lines;
pub use run::run;
