//! The sessions there are.
//!
//! Reading order: [`mod@list`], [`mod@fork`], [`mod@rename`], [`mod@remove`] with [`mod@worktrees`], [`mod@search`],
//! [`mod@history`], [`mod@rewind`], [`mod@export`], [`mod@import`].

mod export;
mod fork;
mod history;
mod import;
mod list;
mod remove;
mod rename;
mod rewind;
mod search;
mod worktrees;

pub(crate) use export::export;
pub(crate) use fork::fork;
pub(crate) use history::{agents, diff};
pub use history::{each_event, session};
pub(crate) use import::{find_foreign, import};
pub(crate) use list::list;
pub use list::{ids, row};
pub(crate) use remove::{measure_kept, prune, remove};
pub(crate) use rename::rename;
pub(crate) use rewind::{preview_rewind, rewind, rewind_points};
pub(crate) use search::search;
pub use worktrees::tidy_worktrees;
