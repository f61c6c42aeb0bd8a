//! Drawing a run: events in, text or JSON out.
//!
//! Invariants: only the model's words go to stdout in text form, everything else to stderr; what may
//! still be taken back is written to a terminal only; nothing
//! that came from a model, a tool or a file reaches a terminal with its control characters; a run
//! looks the same whether its events are live or read back.
//!
//! Reading order: [`printer`] (the three forms), [`text`] with [`card`], [`tail`], [`tally`], [`told`], [`others`], [`children`], [`agents`], [`workflow`], [`diff`], [`plan`], [`place`], [`completion`] with [`ending`], then
//! [`screen`], [`wrap`], [`paint`], [`clean`], [`figures`], and [`json`],
//! [`stream_json`].

pub mod agents;
pub mod card;
mod children;
pub mod clean;
mod completion;
pub mod diff;
mod ending;
pub mod figures;
pub mod json;
mod others;
pub mod paint;
pub mod place;
pub mod plan;
pub mod printer;
pub mod screen;
pub mod stream_json;
pub mod tail;
pub mod tally;
pub mod text;
pub mod told;
pub mod workflow;
pub mod wrap;

#[cfg(test)]
mod drawing;
#[cfg(test)]
mod passing;
#[cfg(test)]
mod recorded;

pub use children::Children;
pub use printer::Printer;
