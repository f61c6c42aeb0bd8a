//! What is shown beside the conversation: what is to be done, who does it, which keys there are.
//!
//! Reading order: [`mod@heading`] (rules that carry a title), [`todos`], [`agents`], [`work`] (both of them beside the work),
//! [`tree`] (all agents), [`one`] (the head of one of them), [`workflows`], [`help`].

mod agents;
mod heading;
mod help;
mod one;
mod todos;
mod tree;
mod work;
mod workflows;

pub(crate) use agents::mark;
pub(crate) use heading::heading;
pub use help::{help_entries, key_rows};
pub use one::{head_row, key_row, task_row};
pub use todos::{plan_rows, todo_rows};
pub use tree::Tree;
pub use work::Work;
pub use workflows::{strip, workflow_rows, workflow_words};
