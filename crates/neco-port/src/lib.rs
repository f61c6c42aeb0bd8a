//! Sessions in other formats, and set-ups of other agents.
//!
//! Nothing here prints, asks a person or knows a terminal.
//!
//! Reading order: [`export`] (a session as a file), [`import`] (sessions of other agents), [`setups`]
//! (their settings), [`mod@error`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod error;
pub mod export;
pub mod import;
pub mod setups;

pub use error::PortError;
pub use export::Export;
