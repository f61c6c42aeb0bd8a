//! What is shown beside the conversation: what is to be done, who does it, which keys there are.
//!
//! Reading order: [`todos`], [`agents`], [`workflows`], [`help`].

mod agents;
mod help;
mod todos;
mod workflows;

pub use agents::{agent_rows, agent_words};
pub use help::{help_rows, key_rows};
pub use todos::{open_todos, plan_rows, todo_rows};
pub use workflows::{workflow_line, workflow_rows, workflow_words};
