//! The box a process runs in, what is looked at afterwards, and this machine as a `World`; the only crate with `unsafe` code.
//!
//! Invariants: every `unsafe` block says why it is sound; nothing here decides whether something
//! may run, only how; what was got is said, and a weaker box is never got silently; nothing of ours is
//! left in a workspace when the last box is gone.
//!
//! Reading order: [`level`] (what is wanted), [`report`] (what was got), [`sandbox`] with [`probe`] and [`caches`], then one box:
//! [`confined`], [`layout`] with [`names`] and [`named`], [`closing`] with [`hard_links`] and [`shut`], [`search`] with [`look`], [`unreadable`] and [`news`], [`git_places`], [`git_view`],
//! [`linked_git`], [`masks`] with [`stand_in`] and [`lists`], [`walls`], [`bwrap`] or [`rules`] with [`carve`], [`order`], [`launcher`], [`linux`]; what happens when it
//! is gone: [`keep`] with [`hands`] and [`bare`], [`watch`] with [`known`], [`git_check`], [`git_config`], [`git_todo`], [`git_links`] and
//! [`git_index`] with [`git_entries`], [`traces`]; beside it [`proxy`], [`macos`]; who starts processes: [`spawn`];
//! the network: [`net`]; both with files: [`world`].

mod bare;
mod bwrap;
mod caches;
mod carve;
mod closing;
mod confined;
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
mod keep;
mod known;
pub mod launcher;
mod layout;
mod level;
mod linked_git;
mod linux;
mod lists;
mod look;
pub mod macos;
mod masks;
mod named;
mod names;
mod net;
mod news;
mod order;
mod probe;
mod proxy;
mod report;
mod rules;
mod sandbox;
mod search;
mod shut;
mod spawn;
mod stand_in;
mod traces;
mod unreadable;
mod walls;
mod watch;
mod world;

pub use layout::{Roots, can_be_worked_in};
pub use level::{Level, Network, Settings};
pub use net::{LocalNet, NetSettings, ProxyRules};
pub use report::{Builder, Report, Strength};
pub use sandbox::{Ask, Sandbox, SandboxSetup, Unmet};
pub use spawn::{Group, Running, Spawner};
pub use world::LocalWorld;
