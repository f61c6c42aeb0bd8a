//! Tools that are scripts: of the user's settings, of files in a folder of theirs, and of a project that they trust.
//!
//! Invariants: what runs is the text that was read when the tool was found, which is what a person trusted, whatever the
//! file holds by now; a script runs in the box that commands run in, and never before its call was judged.
//!
//! Reading order: [`mod@find`] (where they come from) with [`modules`] (those that are WASM), [`script`] (one of them),
//! [`arguments`] (what it is told), [`interpreter`] (what runs it), [`run`] (one run), [`tool`] (what an agent has of
//! it), [`error`].

mod arguments;
mod error;
mod find;
mod interpreter;
mod modules;
mod run;
mod script;
mod tool;

pub use find::{FoundScript, FoundScripts, find, of_plugin};
pub use script::{Code, Script};
pub use tool::tools;
