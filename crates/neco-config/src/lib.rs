//! Reads the layered TOML and tells where every value came from.
//!
//! The one crate that reads environment variables and finds home directories; everybody else is
//! handed what was found. Sections hold raw values as people write them; the crate that owns a
//! setting's meaning converts it, once.
//!
//! Later layers win: built-in, user, project, local, environment, flags. A layer is read, stripped
//! of what a repository may not decide, checked against the known settings, and laid over what is
//! there; only then is the whole turned into a [`Config`]. What is known derives from the sections
//! themselves and is written down as a table; a test sees to it that the table does not drift.
//!
//! Reading order: [`section`] (what can be set), [`mod@env`] with `ahead`, `load`, then `find`, `layer`, `variables`
//! and `flags` (where values come from), `reserved`, `shape` with `known` and `derivation`, `check`, `merge` and `decode` (what
//! happens to them), `policy_files` (where rules are), `servers` with `json`, `placeholders` and `command_line` (MCP
//! servers, however they are written), `scripted` (tools in files of their own), `origin`, `address`, `notice`, `schema`
//! and `reference` (what is told about them); beside them [`front_matter`], the heads of other files that people write.

#![cfg_attr(test, allow(clippy::string_slice))]

mod address;
mod ahead;
mod check;
mod command_line;
mod decode;
mod derivation;
pub mod env;
mod find;
mod flags;
pub mod front_matter;
mod json;
#[rustfmt::skip]
mod known;
mod layer;
mod load;
mod masked;
mod merge;
mod notice;
mod origin;
mod placeholders;
mod plugin_root;
mod policy_files;
mod reference;
mod reserved;
mod schema;
mod scripted;
pub mod section;
mod servers;
mod shape;
mod trail;
mod variables;

pub use address::without_secrets;
pub use check::other_names;
pub use command_line::{words, words_without_secrets};
pub use derivation::source;
pub use env::Env;
pub use find::{ConfigFile, open_regular_file, read_small_file, stays_in};
pub use flags::{is_setting, written_setting};
pub use layer::Lines;
pub use load::{LoadOptions, Loaded, RepositoryHooks, load, load_around, without_freeing};
pub use masked::masked;
pub use notice::{ConfigError, Notice};
pub use origin::{Layer, Origin, Origins, Position, Setting, Source};
pub use placeholders::Filling;
pub use plugin_root::{ROOT_VARIABLES, with_plugin_root};
pub use policy_files::{PolicyFile, PolicyFileError, PolicyFormat, policy_files, policy_folder};
pub use reference::{Meaning, meanings, reference};
pub use schema::json_schema;
pub use scripted::{ToolFile, tool_files, tool_files_in};
pub use section::Config;
pub use servers::{RepositoryServer, plugin_servers, shared_servers};
