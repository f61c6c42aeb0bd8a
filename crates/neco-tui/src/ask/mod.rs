//! What the person is asked: may this run, which of these, is this the plan.
//!
//! Invariants: one question is on the screen at a time, the oldest; its keys hold only while nothing is
//! being typed; what is asked about is shown to the last character, with everything written out that a
//! terminal would hide; an answer that another window gave takes the question away.
//!
//! Reading order: [`edge`] (the panel they stand in), [`approval`] (what can be answered) and
//! [`approval_panel`] (what is seen of it), [`subject`] (what it is about), [`details`] (all of that), [`rest`] (what
//! else will be asked about), [`choices`], [`plan`], [`going_on`], [`no_model`], [`desk`] (whose turn it is).

mod approval;
mod approval_panel;
mod choices;
mod desk;
mod details;
mod edge;
mod going_on;
mod no_model;
mod plan;
mod rest;
mod subject;

pub use approval::{Asks, Esc};
pub use desk::{Asked, Desk, answer};
pub use no_model::NoModelMeans;
pub use plan::plan_rows;
pub use rest::{Mark, Other};
