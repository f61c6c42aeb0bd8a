//! The sessions there are.
//!
//! Reading order: [`mod@list`] with [`standing`], [`mod@remove`] with [`mod@worktrees`], [`mod@search`],
//! [`mod@history`] with [`by_hand`], [`mod@changes`] with [`review_marks`], [`mod@rewind`], [`mod@exchanges`], [`port`], [`blobs`].

mod blobs;
mod by_hand;
mod changes;
mod exchanges;
mod history;
mod list;
mod port;
mod remove;
mod review_marks;
mod rewind;
mod search;
mod standing;
mod worktrees;

pub(crate) use blobs::bytes;
pub(crate) use changes::{change, changes, keep};
pub(crate) use exchanges::{exchanges, kept, restore};
pub(crate) use history::{agents, diff};
pub use history::{each_event, is_unfinished, session};
pub(crate) use list::ALL as ALL_SESSIONS;
pub(crate) use list::{folders, fork, list, rename, watch_rows};
pub use list::{ids, row};
pub(crate) use port::{export, find_foreign, import, keeper};
pub(crate) use remove::{measure_kept, prune, remove};
pub(crate) use rewind::{preview_rewind, rewind, rewind_points};
pub(crate) use search::{search, watch_places};
pub(crate) use worktrees::hold;
pub use worktrees::{begin_worktree, end_worktree};
