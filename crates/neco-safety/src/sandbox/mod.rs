//! The sandbox room: how a process is put into its box, and the only room with `unsafe` code.
//!
//! Invariants: every `unsafe` block says why it is sound; nothing here decides whether something
//! may run, only how; what was got is said, and a weaker box is never got silently; nothing of ours is
//! left in a workspace when the last box is gone.
//!
//! Reading order: [`level`] (what is wanted), [`report`] (what was got), [`sandbox`] with [`probe`] and [`caches`], then one box:
//! [`confined`], [`layout`] with [`names`] and [`named`], [`closing`] with [`hard_links`] and [`shut`], [`search`] with [`look`], [`unreadable`] and [`news`], [`git_places`], [`git_view`],
//! [`linked_git`], [`masks`] with [`stand_in`] and [`lists`], [`walls`], [`bwrap`] or [`rules`] with [`carve`], [`order`], [`launcher`], [`linux`]; what happens when it
//! is gone: [`keep`] with [`hands`] and [`bare`], [`watch`] with [`known`], [`git_check`], [`git_config`], [`git_todo`], [`git_links`] and
//! [`git_index`] with [`git_entries`], [`traces`]; beside it [`proxy`], [`macos`].

mod bare;
mod bwrap;
mod caches;
mod carve;
pub(crate) mod closing;
pub(crate) mod confined;
mod git_check;
mod git_config;
mod git_entries;
mod git_index;
mod git_links;
mod git_places;
mod git_todo;
mod git_view;
mod hands;
mod hard_links;
pub(crate) mod keep;
mod known;
pub mod launcher;
mod layout;
pub mod level;
mod linked_git;
pub(crate) mod linux;
pub(crate) mod lists;
mod look;
pub mod macos;
mod masks;
mod named;
mod names;
mod news;
pub(crate) mod order;
mod probe;
pub mod proxy;
pub mod report;
mod rules;
#[expect(clippy::module_inception, reason = "the room is named after what it builds")]
mod sandbox;
mod search;
mod shut;
mod stand_in;
mod traces;
mod unreadable;
mod walls;
mod watch;

pub use layout::{Roots, can_be_worked_in};
pub use level::{Level, Network, Settings};
pub use report::{Builder, Report, Strength};
pub use sandbox::{Ask, Sandbox, SandboxSetup, Unmet};
