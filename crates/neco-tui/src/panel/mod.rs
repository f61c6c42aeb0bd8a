//! What is shown beside the conversation: what is to be done, who does it, which keys there are.
//!
//! Reading order: [`heading`] (rules that carry a title), [`todos`], [`agents`], [`work`] (both of them beside the work),
//! [`tree`] (all agents), [`one`] (the head of one of them), [`workflows`], [`help`].

mod agents;
mod heading;
mod help;
mod one;
mod todos;
mod tree;
mod work;
mod workflows;

pub use help::{help_rows, key_rows};
pub use one::{head_rows, key_row};
pub use todos::{is_open, plan_rows, todo_rows};
pub use tree::Tree;
pub use work::Work;
pub use workflows::{strip, workflow_rows, workflow_words};
