//! What a tool wants of the agent that called it.
//!
//! A tool has no hand on its agent: it says what it wants, the agent does it or refuses, and the
//! call's result says which. The words are here so that tools and agents need not know each other.

use neco_proto::{QuestionItem, TodoStatus};

/// What a tool wants of the agent that called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Change the todo list.
    WriteTodos(TodoChange),
    /// Keep what was found out, with the plan.
    NoteFindings(Vec<String>),
    /// Ask the person and wait; the answer is the call's result.
    AskPerson(Vec<QuestionItem>),
    /// Go into plan mode, for this reason.
    EnterPlanMode(String),
    /// Put this plan before the person and wait; what they decide is the call's result.
    ProposePlan(String),
    /// Put a picture before the model, in a message that follows the results of the turn's calls.
    ShowPicture(Picture),
    /// The same where the model sees such pictures; where it does not, the call is no failure.
    OfferPicture(Picture),
}

/// A picture for the model. Whoever makes one has looked whether it is whole: a vendor would refuse the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Where it is from, such as the path of a file. It is told in words of our own, so nobody outside may write it.
    pub source: String,
    /// Such as `image/png`.
    pub media_type: String,
    /// The file's bytes in base64.
    pub data: String,
}

/// A change of the todo list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoChange {
    /// Whether todos that are not named go away; where that is not said, the todos tell whether they are the list.
    pub replace: Option<bool>,
    /// Todos that are new or change, in order.
    pub items: Vec<TodoItem>,
}

/// A todo that is new or changes; what is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoItem {
    /// Which; a todo of the same text when it is not said, otherwise a new one.
    pub id: Option<String>,
    /// What is to be done.
    pub text: Option<String>,
    /// How it stands.
    pub status: Option<TodoStatus>,
    /// The todo that it is a part of.
    pub parent: Option<String>,
}
