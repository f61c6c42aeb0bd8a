//! Drawing a run: events in, text or JSON out.
//!
//! Invariants: only the model's words go to stdout in text form, everything else to stderr; what may
//! still be taken back is written to a terminal only; nothing
//! that came from a model, a tool or a file reaches a terminal with its control characters; a run
//! looks the same whether its events are live or read back.
//!
//! Reading order: [`printer`] (the three forms), [`text`] with [`screen`], [`place`], and [`json`], [`stream_json`]. What
//! is drawn, and in which words, is the same for every front end: it comes from `neco_view`.

pub mod clean;
pub mod json;
pub mod place;
pub mod printer;
pub mod screen;
pub mod stream_json;
pub mod text;

#[cfg(test)]
mod drawing;
#[cfg(test)]
mod passing;
#[cfg(test)]
mod recorded;

pub use neco_view::figures;
pub use neco_view::paint::text::{agents, card, diff, plan, tail, workflow};
pub use neco_view::paint::{colour as paint, wrap};
pub use neco_view::wording::notices as told;
pub use printer::Printer;
