//! Calls written as text, by models that can't call tools otherwise.
//!
//! Bare JSON, JSON in a code fence, `<tool_call>`, `<tools>`, `<function=…>` and `<function name=…>` are known. Invariants:
//! a call is only seen where the answer is meant as one: its tool is declared, its arguments fit, it is
//! not shown as an example, and no prose surrounds it beyond a short preface; a model that was told how to
//! write calls may err in tool and arguments, and hears of it; text that may become a call is held back,
//! everything else passes at once; what is no call comes out unchanged, however the text was cut.
//!
//! Reading order: `spot` (the walk over an answer) with `preface`
//! (what may stand before a call), `candidate` (what may be calls), `scan` (JSON while it arrives),
//! `object`, `function` and `element` (what a call says); `told` (how a model
//! is told to write calls, and how it sees its own), `circle` (when it is told to come to an end).

mod candidate;
pub(super) mod circle;
mod element;
mod function;
mod object;
mod preface;
mod scan;
mod spot;
pub(super) mod told;

pub use spot::Declared;
pub use spot::{Seen, Spotter, TextCall, Trust};
