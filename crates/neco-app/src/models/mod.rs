//! The models and groups that can be asked.
//!
//! Invariants: nothing but `test` and `served` sends anything to a vendor; no key is ever told.
//!
//! Reading order: [`here`] (the models of a folder's settings), with [`server`], [`mod@list`], [`mod@show`],
//! [`mod@test`], [`mod@offers`] and [`mod@served`] (a first model).

mod here;
mod list;
mod offers;
mod served;
mod server;
mod show;
mod test;

pub(crate) use list::list;
pub(crate) use offers::offers;
pub(crate) use served::served;
pub(crate) use show::show;
pub(crate) use test::test;
