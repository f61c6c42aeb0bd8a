//! What is remembered from one session to the next.
//!
//! An entry is a Markdown file with a head, in the person's data folder or in `.neco/memory` of the
//! folder that is worked in. The files are the truth, and people may do with them what they like; the
//! index (`neco-store`, `recall`) is made from them and brought up to date whenever it is looked at.
//! Titles and summaries of what matters for the first request are before the model for the whole
//! session (layer 1); the content is loaded by the model when it wants it (layer 2).
//!
//! Invariants: nothing is removed but by a person; what is kept holds no secrets; entries that lie in
//! a folder are that folder's words and reach the model as such; what the model is told of the memory
//! does not change within a session.
//!
//! Reading order: [`entry`], [`frontmatter`], [`folder`], [`scan`], [`found`], [`memory`],
//! [`near`], [`guessed`], [`keep`], [`recall`], [`tools`], [`extract`].

mod entry;
mod extract;
mod folder;
mod found;
mod frontmatter;
#[cfg(test)]
mod frontmatter_tests;
mod guessed;
mod keep;
#[expect(clippy::module_inception, reason = "the room has the name of what it is about")]
mod memory;
mod near;
mod recall;
mod scan;
pub mod tools;

pub(crate) use entry::one_line;
pub use entry::{Category, PERSON};
pub(crate) use extract::Extraction;
pub use found::Found;
pub use keep::{NewEntry, kept_words, said_by_person, to_remember};
pub use memory::{Memory, MemoryError, MemorySetup};
pub use recall::{Recall, RecallLimits};
