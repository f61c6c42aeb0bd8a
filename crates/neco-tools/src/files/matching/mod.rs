//! Finding the text of an edit in a file, and putting the new text in its place.
//!
//! Invariants: works on bytes, so what is not UTF-8 survives; bytes outside the place found never
//! change; when the text is not there exactly, a looser reading counts only if exactly one place
//! fits it; nothing here does I/O or panics, whatever the input.
//!
//! Reading order: [`mod@apply`] (the order of readings), [`exact`], [`lines`], [`trailing`],
//! [`indentation`], [`escapes`], [`wrapped`], [`closest`].

mod apply;
mod closest;
mod escapes;
mod exact;
mod indentation;
mod lines;
mod trailing;
mod wrapped;

pub use apply::{Edited, Fit, MOST_PLACES, Misfit, Replacement, apply};
pub(super) use apply::{LOOK_AFTER, MOST_BYTES, Stop};
pub use closest::Closest;
pub(super) use closest::find as closest_to;
pub(super) use escapes::write_out;
pub(super) use indentation::{Shift, shift_of};
pub(super) use lines::{Endings, Line, Lines, OldText, trim_end};
pub(super) use wrapped::unfenced;
