//! Payloads about what the model is told: what was trimmed, what was compacted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{CallId, MessageId};
use crate::message::Message;
use crate::mode::names;

/// Outputs and arguments of earlier calls were shortened, because they are outdated or were long and have been used.
/// The log keeps them whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextTrim {
    /// Tokens of the context before.
    pub before: u64,
    /// Tokens of the context after.
    pub after: u64,
    /// The outputs as the model has them from now on.
    pub outputs: Vec<TrimmedOutput>,
    /// The arguments as the model has them from now on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<TrimmedArguments>,
}

/// The output of a call as the model has it from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrimmedOutput {
    /// The call.
    pub call_id: CallId,
    /// What stands in place of its output.
    pub output: String,
}

/// The arguments of a call as the model has them from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrimmedArguments {
    /// The call.
    pub call_id: CallId,
    /// What stands in place of its arguments: one line, an object in JSON.
    pub arguments: String,
}

names! {
    /// Why the conversation was compacted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CompactionCause {
        /// The context is nearly full.
        Full = "full",
        /// The model refused a request as too long.
        TooLong = "too_long",
        /// The person asked for it.
        Asked = "asked",
    }
}

names! {
    /// How the conversation was made shorter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CompactionStrategy {
        /// A model wrote a summary of the older part.
        Summary = "summary",
        /// The oldest outputs of tools were dropped.
        Outputs = "outputs",
        /// The older part was dropped.
        Window = "window",
    }
}

/// The conversation that the model has was made shorter. The log keeps all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compaction {
    /// Why.
    pub cause: CompactionCause,
    /// How.
    pub strategy: CompactionStrategy,
    /// Tokens of the context before.
    pub before: u64,
    /// Tokens of the context after.
    pub after: u64,
    /// How many messages stayed as they were.
    pub kept: u64,
    /// How many are gone from what the model has.
    pub removed: u64,
    /// What the person asked to pay attention to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// Who asked for it, when somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// Messages of the older part that stayed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<MessageId>,
    /// What stands in place of the older part, after what stayed of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Message>,
    /// Where the part begins that stayed as it was; absent when nothing was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<MessageId>,
    /// Outputs that were shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<TrimmedOutput>,
    /// Arguments that were shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<TrimmedArguments>,
    /// Why better ways were not taken, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Rules files that the model was told of because it touched their folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RulesTold {
    /// The files, relative to the workspace.
    pub files: Vec<String>,
    /// Files beside them that were not read, as a notification before said: the model is told that, and not told again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl RulesTold {
    /// What happened, in words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        match self.files.as_slice() {
            [] => format!("the rules of {} are not told", self.unread.join(", ")),
            files => format!("the model is told the rules of {}", files.join(", ")),
        }
    }
}

names! {
    /// Who brought a skill in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SkillCause {
        /// The person, by its name.
        Person = "person",
        /// The model.
        Model = "model",
        /// Words of the request that stand in its description.
        Words = "words",
        /// The definition of the agent, which lists it.
        Definition = "definition",
    }
}

/// A skill was brought into the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillUsed {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Who brought it in.
    pub cause: SkillCause,
}

impl SkillUsed {
    /// What happened, in words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let why = match self.cause {
            SkillCause::Person => "you named it",
            SkillCause::Model => "the model chose it",
            SkillCause::Words => "your words fit it",
            SkillCause::Definition => "the agent's definition lists it",
        };
        format!("the skill {} is in use: {why}", self.name)
    }
}

/// Pieces of files that fit what the person said, as the model was given them with the message before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PiecesGiven {
    /// The message that has them.
    pub message_id: MessageId,
    /// Where they stand.
    pub pieces: Vec<GivenPiece>,
    /// Tokens of all of them, as estimated.
    #[serde(default)]
    pub tokens: u64,
}

/// Where a piece of a file stands that was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenPiece {
    /// The file, relative to the workspace.
    pub path: String,
    /// Its first line, counted from one.
    pub first_line: u32,
    /// Its last line.
    pub last_line: u32,
}

impl PiecesGiven {
    /// What happened, in words for a person.
    #[must_use]
    pub fn words(&self) -> String {
        let places: Vec<String> = self.pieces.iter().map(GivenPiece::place).collect();
        format!("the model is given what fits your words: {}", places.join(", "))
    }
}

impl GivenPiece {
    /// The file and the lines.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}-{}", self.path, self.first_line, self.last_line)
    }
}

/// What the model is told of the place where it works: gathered when the session was made, and told the
/// same for as long as it lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentTold {
    /// The text.
    pub text: String,
    /// The day that the model was last told.
    pub date: String,
    /// The map of the repository, where it is wanted and was ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_map: Option<String>,
}
