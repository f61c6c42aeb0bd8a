//! Scenarios and scripted worlds for tests.
//!
//! A scenario is a Markdown file that says what is in the folder, what the model will answer, what
//! the person says, and what must happen. It is played by the real session with real tools on real
//! files and a real store.
//!
//! Reading order: [`scenario`], [`stage`] (where it is played), [`describe`] and [`describe_plan`]
//! (events as lines).

pub mod describe;
pub mod describe_plan;
mod describe_tree;
pub mod scenario;
pub mod stage;

pub use scenario::Scenario;
pub use stage::Stage;
