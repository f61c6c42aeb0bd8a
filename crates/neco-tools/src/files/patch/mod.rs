//! Patches: reading them in both formats, finding where they belong, carrying them out as a whole.
//!
//! Invariants: nothing is written before every hunk of every file has its place; a hunk has a place
//! only if there is exactly one way to put all hunks of its file in; lines that a patch only mentions
//! stay as they are in the file; when a write fails, what was written before is put back.
//!
//! Reading order: [`hunk`], [`mod@read`], [`envelope`], [`unified`]; [`find`],
//! [`place`], [`build`]; [`stage`], [`mod@carry_out`], [`report`].

mod build;
mod carry_out;
mod envelope;
mod find;
mod hunk;
mod place;
mod read;
mod report;
mod stage;
mod unified;

pub(super) use carry_out::carry_out;
pub(super) use hunk::{Act, FilePatch};
pub(super) use read::{PatchError, read, read_loosely};
pub(super) use report::{done_words, plan_diffs};
pub(super) use stage::Stage;
