//! `neco agents`: the agents that can do a part of the work, and those that are at it.
//!
//! Reading order: [`mod@run`], [`reach`] (who works, and what is asked of them).

mod reach;
mod run;

pub use run::run;
