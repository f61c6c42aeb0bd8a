//! `neco session import`: sessions of other agents, and those that Neco exported.
//!
//! Reading order: [`command`], [`choose`] (with `--from`), [`told`] (what a person reads of it).

mod choose;
mod command;
mod told;

pub(super) use command::run;
