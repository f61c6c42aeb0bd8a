//! `neco agents`: the agents that can do a part of the work.
//!
//! Reading order: [`mod@run`], [`show`].

mod run;
mod show;

pub(in crate::cmd) use run::definitions;
pub use run::run;
