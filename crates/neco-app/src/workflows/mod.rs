//! Workflows, and the runs of them.
//!
//! Reading order: [`mod@list`], [`mod@show`], [`mod@check`].

mod check;
mod list;
mod show;

pub(crate) use check::check;
pub(crate) use list::list;
pub use show::find_run;
pub(crate) use show::{show, show_run};
