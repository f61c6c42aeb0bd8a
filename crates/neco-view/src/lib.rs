//! What people see, before it is drawn, and what they type after a slash: the same for every front end.
//!
//! Nothing here opens a file, reads a clock or knows a terminal: events come in, facts and texts go out. The shape of what
//! comes out as JSON is told in `docs/view.md`.
//!
//! Reading order: [`reduce`] (events into blocks), [`figures`] and [`wording`] (numbers and sentences), [`paint`] (blocks as
//! text), [`changed_words`], [`short_id`]; [`ask`] (what a person is asked about); [`slash`] with [`setting`], [`agent_ask`], [`agent_orders`],
//! [`context_view`], [`workflow_inputs`], [`export_line`] and [`moment`], for whoever takes commands from a person.

pub mod agent_ask;
pub mod agent_orders;
pub mod ask;
pub mod changed_words;
pub mod context_view;
pub mod export_line;
pub mod figures;
pub mod moment;
pub mod paint;
pub mod reduce;
pub mod setting;
pub mod short_id;
pub mod slash;
pub mod wording;
pub mod workflow_inputs;

pub use context_view::{ContextView, Speaker};
pub use reduce::View;
