//! MCP servers: programs and addresses that offer tools, resources and prompts.
//!
//! A server is *configured*, then *known* (its manifest, the list of what it offers, is kept from the last time it ran),
//! and *started* when something of it is first needed; without work it is stopped again. So a hundred servers in the
//! settings cost nothing until one of them is called.
//!
//! Invariants: nothing that a server does takes the session down: its lines, lists, results and log are bounded, a
//! silent one is given up, one that dies is started again with growing pauses; what it says is data from outside; its
//! own words about what a tool does are shown, and only ever make it riskier; it sees none of our keys.
//!
//! Reading order: [`settings`] and [`mod@find`] with [`pinned_files`] (what is configured), [`names`], [`manifest`] (what a
//! server offers) with [`wanted`] and [`pins`], [`mod@line`] and [`http`] with [`request`], [`answers`] and [`trouble`] (how
//! messages get there), [`auth`], [`login`] and [`callback`] (what an address is shown), [`host`], [`elicit`] with
//! [`answer_kind`] and [`sampling`] (what a server may ask of us), [`connection`] (one conversation with it), [`content`]
//! (its answers), [`server`] (one server, running or not) with [`link`] (while it runs), [`last_words`], [`advice`] and
//! [`failures`] (why it ended), [`tool`], [`servers`] (all of a folder), [`log`].

mod advice;
mod answer_kind;
mod answers;
mod auth;
mod callback;
mod connection;
mod content;
mod elicit;
mod error;
mod failures;
mod find;
mod host;
mod http;
mod kept_tools;
mod last_words;
mod line;
mod link;
mod log;
mod login;
mod manifest;
mod names;
mod pinned_files;
mod pins;
mod request;
mod sampling;
mod server;
mod servers;
mod settings;
mod tool;
mod trouble;
mod wanted;

pub use auth::TokenStore;
pub use error::McpError;
pub use failures::Failure;
pub use find::{FoundServer, FoundServers, find, is_server_name, of_plugin};
pub use host::Caller;
pub use login::{LoggedOut, LoginStep, LoginUi};
pub use manifest::{Hints, Manifest, PromptArgument, PromptInfo, ResourceInfo, ToolInfo};
pub use names::tool_name;
pub use pinned_files::PinnedFiles;
pub use server::ServerState;
pub use servers::{MakeProcesses, McpSetup, ServerStatus, Servers};
pub use settings::{LoginSettings, Reach, ServerAddress, ServerProgram, ServerSettings};
