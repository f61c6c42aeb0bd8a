//! Tools on files: read, write, edit, list, find, search.
//!
//! Invariants: a path is located before it is used, and used only if it is what was judged; a file that exists is changed only if this agent
//! has read it and it is still as it was then; what a file had besides its text (encoding, byte order
//! mark, line endings, permissions, links) survives a change.
//!
//! Reading order: [`judged`], [`text`], [`sniff`], [`lines`], [`page`], [`document`], [`read_file`]; [`ledger`], [`mod@change`],
//! [`diff`], [`marked`], [`placeholder`], [`left_out`], [`write_file`]; [`matching`], [`edit_words`], [`edit_file`]; [`patch`], [`apply_patch`], [`delete_file`]; [`listing`],
//! [`list_directory`], [`pattern`], [`glob`], [`search`], [`hits`], [`grep`]; [`near`], [`foreign`], [`call`].

use std::sync::Arc;

use neco_toolkit::DynTool;

mod apply_patch;
pub(crate) mod call;
mod change;
mod delete_file;
mod diff;
mod document;
mod edit_file;
mod edit_words;
pub(crate) mod foreign;
mod glob;
mod grep;
mod hits;
pub(crate) mod judged;
mod ledger;
mod left_out;
mod lines;
mod list_directory;
mod listing;
mod marked;
mod matching;
pub(crate) mod near;
mod page;
mod patch;
pub(crate) mod pattern;
mod placeholder;
mod read_file;
mod search;
mod sniff;
mod text;
mod write_file;

pub use apply_patch::patched;
pub use diff::{Change, change};
pub use document::document_text;

/// The file tools of one agent, which share what it knows of files.
pub fn tools() -> Vec<Arc<dyn DynTool>> {
    let shared = call::Shared::default();
    vec![
        shared.tool(read_file::ReadFile),
        shared.tool(write_file::WriteFile),
        shared.tool(edit_file::EditFile),
        shared.tool(apply_patch::ApplyPatch),
        shared.tool(delete_file::DeleteFile),
        shared.tool(list_directory::ListDirectory),
        shared.tool(glob::Glob),
        shared.tool(grep::Grep),
    ]
}
