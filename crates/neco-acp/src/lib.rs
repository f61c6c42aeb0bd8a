//! Sessions for editors: the agent of the Agent Client Protocol, on any two streams.
//!
//! It stands on the [`App`](neco_proto::app::App) and on the [`Client`](neco_proto::Client) of each session alone, as
//! every window does: what an editor sees comes from the same events as what a terminal shows.
//!
//! Invariants: nothing but messages is written; what an editor did not offer is never asked of it; a prompt has exactly
//! one answer, also when the session is stopped or goes; the end of the input ends everything that was begun.
//!
//! Reading order: [`connection`] (which message is answered by what) on [`transport`] (messages as lines), [`sessions`]
//! (those that an editor has open) with [`options`] (what can be set in one), [`prompt`] (what an editor says),
//! [`commands`] (lines with a slash) and [`going_back`], [`window`] (one session, and what is wanted of it), [`follower`]
//! (what comes of that) with [`prompts`] (those that are not answered yet), [`transcript`] (its events as [`updates`]) with
//! [`past`] (what happened before), [`below`], [`calls`] and [`pictures`], [`asking`] (what a person is asked) with [`permission`],
//! [`forms`] and [`questions`] (what their next message answers), [`world`] (the editor's files), [`terminal`] with
//! [`relay`] (its terminals), [`servers`] (its MCP servers), [`login`], [`failure`].

mod asking;
mod below;
mod calls;
mod commands;
mod connection;
mod failure;
mod follower;
mod forms;
mod going_back;
mod login;
mod options;
mod past;
mod permission;
mod pictures;
mod prompt;
mod prompts;
mod questions;
mod relay;
mod servers;
mod sessions;
mod terminal;
mod transcript;
mod transport;
mod updates;
mod window;
mod world;

pub use connection::{AcpSetup, serve};
pub use prompt::CheckPictures;
pub use relay::print_command_if_asked;
