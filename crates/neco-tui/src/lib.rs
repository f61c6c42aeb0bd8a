//! The terminal window: draws a session's events below the terminal's own scrollback, and turns keys into its
//! commands.
//!
//! It sees a session through [`neco_proto::Client`], the program through [`neco_proto::app::App`] and the terminal around it
//! through [`host::Host`]. Invariants: whoever
//! reads the keys never waits for a session, a host or a terminal; what is finished belongs to the terminal's
//! scrollback and is never drawn again; only what is alive is kept in memory.
//!
//! Reading order: [`host`] and [`looks`] (what a window is given), [`clipboard`], [`editing`], [`history_file`],
//! [`draft_files`] and [`status_line`] (what a host gives it on this machine) with [`terminal_host`], [`term`] (frames on a terminal), [`text`] and
//! [`theme`], [`told`] (what the agent hears of the person), [`outside`] (commands that reach beyond the session) with
//! [`in_background`], [`what_holds`] (settings, sandbox, hooks), [`extensions`] (skills, plugins) and [`servers`] (MCP), [`custom_commands`] with
//! [`command_lines`] (what those of the person's own run), [`transcript`] (what happened), [`ask`], [`input`],
//! [`panel`], [`app`] (the state), [`update`] (keys and news), [`view`] (rows), [`mod@run`] (the loop); [`set_up`] (a
//! first model); [`mod@line`] (a session in plain lines).
#![cfg_attr(test, allow(clippy::string_slice, clippy::unwrap_used, clippy::expect_used))]

pub mod app;
mod ask;
pub mod clipboard;
pub mod command_lines;
mod custom_commands;
pub mod draft_files;
pub mod editing;
mod extensions;
pub mod history_file;
pub mod host;
mod in_background;
pub mod input;
pub mod line;
pub mod looks;
mod outside;
mod panel;
pub mod run;
mod servers;
pub mod set_up;
pub mod status_line;
pub mod term;
pub mod terminal_host;
pub mod text;
pub mod theme;
mod told;
mod transcript;
pub mod update;
mod view;
mod what_holds;

pub use custom_commands::SaidByCommand;
pub use host::{
    CommandOutcome, Edited, Host, ImageSource, LineOf, ModelEntry, Printed, ProviderEntry, RuleEntry, RuleGroup,
    SessionEntry, Wanted,
};
pub use looks::Looks;
pub use run::{WindowError, run};
pub use term::{Depth, Notify, give_back};
pub use theme::ThemeName;
