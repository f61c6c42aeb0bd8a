//! The commands that begin with a slash: one table for the help, the completion and what they mean, shared by
//! every window.
//!
//! What a session can do by itself has a variant of its own; what needs something outside of it (other
//! sessions, files, settings) is an [`Outside`], which whoever opened the window carries out.
//!
//! Reading order: [`command`] (what can be asked for), [`table`], [`readers`] (what stands behind a command), [`find`]
//! (which one a line asks for).

mod command;
mod find;
mod readers;
mod table;

pub use command::{NO_ANSWER, NO_CALL, NO_COMMAND, NO_TODOS, Outside, Slash, SlashError};
pub use find::{is_known, is_prompt, nearest, parse};
pub use table::{Custom, Row, TABLE};
