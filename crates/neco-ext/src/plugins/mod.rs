//! Plugins: folders that bring skills, commands, agents, hooks, MCP servers, scripted tools and workflows as one thing,
//! which is installed, switched and updated as one.
//!
//! Invariants: nothing of a plugin counts before a person saw all that it brings and said yes; what was said yes to is
//! pinned by the hash of every file; nothing in a plugin leads out of its folder.
//!
//! Reading order: [`source`] (where one comes from), [`marketplace`] (lists of them), [`manifest`] (what it says of
//! itself), [`installed`] (what is there) with [`folders`] (how a folder takes the place of another) and [`off`], [`given`] (what it
//! gives to the rest).

mod folders;
mod given;
mod installed;
mod manifest;
mod marketplace;
mod off;
mod source;

pub use given::files_of;
pub(crate) use given::rooted;
pub use installed::{ActivePlugin, Installed, KnownMarketplace, LIMITS, PluginStore, PluginsError};
pub use manifest::{Kind, Manifest, ManifestError, Written, is_known, is_name};
pub use marketplace::{Entry, Marketplace};
pub use off::PluginOff;
pub use source::{Source, SourceError};
