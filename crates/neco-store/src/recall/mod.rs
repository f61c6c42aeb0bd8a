//! The search index of the memory: what its files say, in a form that is quickly ranked.
//!
//! Invariants: the files are the truth, the index is made from them and can be made again at any
//! time; so a damaged index is thrown away without asking, and one that can't be written is kept in
//! memory for the present process. Only the counts of use live here alone.
//!
//! Reading order: [`record`] (what is indexed), [`index`] (the face), [`open`], [`segment`] (cutting text).

mod index;
mod open;
mod record;
pub(crate) mod segment;

pub use index::{IndexError, MemoryIndex};
pub use record::{FileStamp, NewRecord, Record};
pub use segment::{query_of, words_of};
