//! Keys of providers: which there are, keeping one, forgetting some.
//!
//! Invariants: no answer holds a key, only its last characters where those give nothing away; what is kept is kept in one
//! file, for its owner alone.
//!
//! Reading order: [`here`] (the providers of a folder's settings), [`mod@list`], [`mod@set`], [`mod@remove`].

mod here;
mod list;
mod remove;
mod set;

pub(crate) use list::list;
pub(crate) use remove::remove;
pub(crate) use set::set;
