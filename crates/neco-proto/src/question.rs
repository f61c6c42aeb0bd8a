//! Questions to a person, and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, QuestionId};
use crate::mode::ApprovalMode;

/// The agent asks the person something and waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Its id, to be returned with the answer.
    pub question_id: QuestionId,
    /// The call that waits for the answer, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// What is asked.
    #[serde(flatten)]
    pub subject: Subject,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum Subject {
    /// The model wants to know something; answered with [`Reply::Choices`] or [`Reply::Dismiss`].
    Choices {
        /// What it wants to know, in order.
        items: Vec<QuestionItem>,
    },
    /// A plan waits for approval; answered with one of the replies about a plan.
    Plan {
        /// The plan, in markdown.
        plan: String,
    },
    /// The agent was repeating itself and was stopped; answered with [`Reply::GoOn`] or [`Reply::Dismiss`].
    Loop {
        /// What it repeats, in words for the person.
        text: String,
    },
}

/// One thing that the model wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionItem {
    /// A word or two that name it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The question.
    pub text: String,
    /// What can be chosen; empty when any text is an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<QuestionOption>,
    /// Whether more than one option can be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// What it means to answer with nothing.
    #[serde(default, skip_serializing_if = "EmptyAnswer::is_allowed")]
    pub empty: EmptyAnswer,
    /// The field of a form that it asks for, where it asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<FormField>,
}

/// What it means to answer a question with nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmptyAnswer {
    /// The question stays without an answer.
    #[default]
    Allowed,
    /// The default is meant, which the question names.
    Default,
    /// It is not taken: an answer is needed.
    Refused,
}

impl EmptyAnswer {
    fn is_allowed(&self) -> bool {
        *self == Self::Allowed
    }
}

/// A field of a form that an MCP server wants filled in; the title of the question names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FormField {
    /// What the server is called in the settings.
    pub server: String,
    /// What an empty answer means, as people know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionOption {
    /// What it is called.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A person's answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reply {
    /// To what the model wants to know: one for each item, in order; fewer where the person answered no more of them.
    Choices {
        /// The answers.
        answers: Vec<ItemAnswer>,
    },
    /// The plan is to be carried out.
    AcceptPlan {
        /// When the person is asked from now on; absent means as before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalMode>,
        /// Something to mind while it is carried out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comments: Option<String>,
    },
    /// The plan is to be carried out as the person changed it. A process that does not know this refuses it: it would
    /// carry out what the person has not accepted.
    AcceptChangedPlan {
        /// The changed plan.
        plan: String,
    },
    /// The plan is to be made better.
    RevisePlan {
        /// How.
        comments: String,
    },
    /// Nothing is to come of the plan.
    DropPlan,
    /// The agent may go on.
    GoOn {
        /// What it should do instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        comments: Option<String>,
    },
    /// The person does not want to answer; an agent that was stopped stays so.
    Dismiss,
}

/// The answer to one thing that the model wants to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemAnswer {
    /// The labels of the options that were chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// What the person wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}
