//! The models and groups that can be asked.
//!
//! Invariants: nothing but `test` and `served` sends anything to a vendor; no key is ever told.
//!
//! Reading order: [`here`] (the models of a folder's settings), with [`server`], [`mod@list`], [`mod@show`],
//! [`mod@test`], [`first`] (a first model).

mod first;
mod here;
mod list;
mod server;
mod show;
mod test;

pub(crate) use first::{offers, served};
pub(crate) use list::list;
pub(crate) use server::listens;
pub(crate) use show::show;
pub(crate) use test::{test, test_all, watch_tests};
