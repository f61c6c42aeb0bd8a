//! Drawing a run in lines: events in, text or JSON out.
//!
//! Invariants: only the model's words go to stdout in text form, everything else to stderr; what may
//! still be taken back is written to a terminal only; nothing
//! that came from a model, a tool or a file reaches a terminal with its control characters; a run
//! looks the same whether its events are live or read back.
//!
//! Reading order: [`printer`] (the forms), [`text`] with [`screen`], [`json`] and [`claude`], [`waits`] and
//! [`patience`] (what is waited for, and when that is told without a terminal). What is drawn, and in which words, is
//! the same for every front end: it comes from `neco_view`.

pub mod claude;
pub mod json;
mod patience;
pub mod printer;
pub mod screen;
pub mod text;
mod waits;

#[cfg(test)]
pub(super) mod tests;

pub use claude::ClaudePrinter;
pub use json::JsonPrinter;
pub use printer::Printer;
pub use screen::{Look, Screen};
pub use text::TextPrinter;
