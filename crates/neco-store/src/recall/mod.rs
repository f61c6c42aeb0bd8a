//! The search index of the memory: what its files say, in a form that is quickly ranked.
//!
//! Invariants: the files are the truth, the index is made from them and can be made again at any
//! time; so a damaged index is thrown away without asking, and one that can't be written is kept in
//! memory for the present process. Only the counts of use live here alone.
//!
//! Reading order: [`index`] (the face, and what is indexed), [`open`], [`segment`] (cutting text).

mod index;
mod open;
pub(crate) mod segment;

pub use index::{FileStamp, NewRecord, Record};
pub use index::{IndexError, MemoryIndex};
pub use segment::{query_of, words_of};
