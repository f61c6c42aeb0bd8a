//! The models and groups that can be asked.
//!
//! Invariants: nothing but `test` sends anything to a vendor; no key is ever told.
//!
//! Reading order: [`here`] (the models of a folder's settings), [`mod@list`], [`mod@show`], [`mod@test`].

mod here;
mod list;
mod show;
mod test;

pub(crate) use list::list;
pub(crate) use show::show;
pub(crate) use test::test;
