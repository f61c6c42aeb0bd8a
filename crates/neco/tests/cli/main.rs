//! The command line from outside: the real binary, real files, real processes, a scripted model.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "what a test does not expect fails it"
)]

mod acp;
mod acp_connection;
mod acp_files;
mod acp_library;
mod acp_sessions;
mod acp_terminals;
mod approvals;
mod attach;
mod auth;
mod checkpoints;
mod commands;
mod documents;
mod editor;
mod effects;
mod eval;
mod exits;
mod first_day;
mod future;
mod github;
mod history;
mod import;
mod input;
mod kept;
mod keys;
mod local;
mod mcp_login;
mod mcp_over_http;
mod mcp_serve;
mod mcp_use;
mod memory;
mod models;
mod newcomer;
mod notices;
mod output;
mod peer;
mod pictures;
mod plugins;
mod policy;
mod port;
#[path = "../../../neco-acp/tests/recorded/protocol.rs"]
mod protocol;
mod recorded;
mod requests;
mod sandbox;
mod scripted_tools;
mod secrets;
mod serve;
mod serve_moves;
mod serve_tls;
mod server;
mod session_commands;
mod sessions;
mod signals;
mod skills;
mod skills_in_use;
mod stopping;
mod support;
mod told;
mod tree;
mod trust;
mod workflow;
