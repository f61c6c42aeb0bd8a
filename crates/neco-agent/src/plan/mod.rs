//! What the agent means to do: its todo list, the plan a person accepted, what it found out, and the
//! questions it has.
//!
//! Invariants: a change of the list is made whole or not at all; a todo goes only where its table
//! allows; one thing is in progress at a time; everything here follows from the events of the session.
//!
//! Reading order: [`todos`] (the list), [`book`] (list, plan with its steps, and findings
//! together), [`replies`] (what a person's answer means), and the [`mod@tools`]: [`todo_write`],
//! [`ask_user`], [`plan_mode`].

mod ask_user;
mod book;
mod plan_mode;
mod replies;
mod todo_write;
mod todos;
mod tools;

pub use ask_user::ASK_USER;
pub use book::steps;
pub use book::{PlanBook, Progress};
pub use plan_mode::{ENTER_PLAN_MODE, EXIT_PLAN_MODE};
pub use replies::{ReplyError, answer_text, check_reply};
pub use todo_write::TODO_WRITE;
pub use todos::Todos;
pub use tools::tools;
