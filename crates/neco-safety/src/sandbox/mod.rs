//! The sandbox room: how a process is put into its box, and the only room with `unsafe` code.
//!
//! Invariants: every `unsafe` block says why it is sound; nothing here decides whether something
//! may run, only how; what was got is said, and a weaker box is never got silently; nothing of ours is
//! left in a workspace when the last box is gone.
//!
//! Reading order: [`level`] (what is wanted), [`report`] (what was got), [`sandbox`] with [`probe`], then one box:
//! [`confined`], [`layout`] with [`names`] and [`named`], [`search`], [`git_places`], [`git_view`], [`linked_git`], [`masks`], [`keep`] and [`bare`], [`walls`], [`bwrap`] or
//! [`carve`], [`order`], [`launcher`], [`linux`]; beside it [`proxy`], [`denial`], [`macos`].

mod bare;
mod bwrap;
mod carve;
pub(crate) mod confined;
pub mod denial;
mod git_places;
mod git_view;
pub(crate) mod keep;
pub mod launcher;
mod layout;
pub mod level;
mod linked_git;
pub(crate) mod linux;
pub mod macos;
mod masks;
mod named;
mod names;
pub(crate) mod order;
mod probe;
pub mod proxy;
pub mod report;
#[expect(clippy::module_inception, reason = "the room is named after what it builds")]
mod sandbox;
mod search;
mod walls;

pub use layout::Roots;
pub use level::{Allowance, Freedom, Level, Network, Settings};
pub use report::{Builder, Report, Strength};
pub use sandbox::{Ask, Sandbox, SandboxSetup, Unmet};
