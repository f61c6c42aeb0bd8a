//! Tools on files: read, write, edit, list, find, search.
//!
//! Invariants: a path is located before it is used, and used only if it is what was judged; a file that exists is changed only if this agent
//! has read it and it is still as it was then; what a file had besides its text (encoding, byte order
//! mark, line endings, permissions, links) survives a change.
//!
//! Reading order: [`judged`], [`text`], [`sniff`], [`lines`], [`page`], [`document`], [`read_file`]; [`ledger`], [`change`],
//! [`diff`], [`marked`], [`placeholder`], [`left_out`], [`write_file`]; [`matching`], [`edit_words`], [`edit_file`]; [`patch`], [`apply_patch`]; [`listing`],
//! [`list_directory`], [`pattern`], [`glob`], [`search`], [`hits`], [`grep`]; [`near`], [`foreign`], [`blocking`].

use std::sync::Arc;

use neco_toolkit::DynTool;
use neco_toolkit::tool::erase;

mod apply_patch;
pub(crate) mod blocking;
mod change;
mod diff;
mod document;
mod edit_file;
mod edit_words;
mod foreign;
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
pub use document::points_shown;

/// The file tools of one agent, which share what it knows of files.
#[must_use]
pub fn tools() -> Vec<Arc<dyn DynTool>> {
    let ledger = Arc::new(ledger::Ledger::default());
    let judged = Arc::new(judged::Judged::default());
    vec![
        erase(read_file::ReadFile { ledger: Arc::clone(&ledger), judged: Arc::clone(&judged) }),
        erase(write_file::WriteFile { ledger: Arc::clone(&ledger), judged: Arc::clone(&judged) }),
        erase(edit_file::EditFile { ledger: Arc::clone(&ledger), judged: Arc::clone(&judged) }),
        erase(apply_patch::ApplyPatch { ledger, judged: Arc::clone(&judged) }),
        erase(list_directory::ListDirectory { judged: Arc::clone(&judged) }),
        erase(glob::Glob { judged: Arc::clone(&judged) }),
        erase(grep::Grep { judged }),
    ]
}
