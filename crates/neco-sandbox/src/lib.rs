//! The box a process runs in, what is looked at afterwards, and this machine as a `World`; the only crate with `unsafe` code.
//!
//! Invariants: every `unsafe` block says why it is sound; nothing here decides whether something
//! may run, only how; what was got is said, and a weaker box is never got silently; nothing of ours is
//! left in a workspace when the last box is gone.
//!
//! Reading order: [`level`] (what is wanted), [`report`] (what was got), [`sandbox`] with [`probe`] and [`caches`]; one box:
//! [`plan`], [`survey`], [`git`], [`boxed`], [`launcher`], [`linux`]; what happens when it is gone: [`after`]; beside it [`macos`]; who
//! starts processes: [`spawn`]; the network: [`net`]; both with files: [`world`]; beside all of it [`passed`] (files that this process was started with).

mod after;
mod boxed;
mod caches;
mod git;
pub mod launcher;
mod level;
mod linux;
pub mod macos;
mod net;
mod passed;
mod plan;
mod probe;
mod report;
mod sandbox;
mod spawn;
mod survey;
mod world;

pub use level::{Level, Network, Settings};
pub use net::{LocalNet, NetSettings, ProxyRules};
pub use passed::passed_file;
pub use plan::layout::{Roots, can_be_worked_in};
pub use report::{Builder, Report, Strength};
pub use sandbox::{Ask, Sandbox, SandboxSetup, Unmet};
pub use spawn::{Group, Running, Spawner};
pub use world::LocalWorld;
