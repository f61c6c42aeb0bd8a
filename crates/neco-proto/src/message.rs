//! Messages: what was said by whom, in a form that every vendor's wire can be written from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::error_code::ErrorCode;
use crate::ids::{CallId, MessageId};

/// What stands before the words of Neco itself in the person's place.
pub const NECO: &str = "[Neco]";

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the harness speaking to the model in the person's place.
    User,
    /// The model.
    Assistant,
    /// The results of the calls of the assistant message before it.
    Tool,
}

/// Who speaks in the person's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person themselves.
    Person,
    /// Neco.
    Neco,
    /// A hook of the person.
    Hook,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
    /// `provider/model` that wrote it; only on assistant messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who says it in the person's place; only on user messages, and absent in logs that are older than
    /// this, where the text tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Who sent it, when it was sent by a command; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// What the person says in it, where something else stands between that: only this names files and skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What the command of the person's own that says it wants while it is done. Nothing of that outlives the process.
    #[serde(skip)]
    pub wants: CommandWants,
    /// What of it stands in place of something longer. The event that took that away says it, so it is not written here.
    #[serde(skip)]
    pub stands_for: StandsFor,
}

/// What a command of the person's own wants while an agent does what it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandWants {
    /// Rules that allow something, such as `Bash(git add:*)`. One that denies counts all the same.
    pub allow: Vec<String>,
    /// The model that is asked, unless the person chose one for the session.
    pub model: Option<String>,
}

/// What of a message stands in place of something longer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandsFor {
    /// All of it stands for an older part of the conversation.
    pub older_part: bool,
    /// The calls whose results are shorter than they were.
    pub outputs: Vec<CallId>,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture; only in user messages.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// The file's bytes in base64.
        data: String,
    },
    /// What the model thought before it answered.
    Reasoning {
        /// The readable part; may be empty when the vendor only gives an opaque one.
        text: String,
        /// What the vendor wants back unchanged: a signature or an encrypted item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// A call the model asks for; only in assistant messages.
    ToolCall(ToolCall),
    /// What a call gave; only in tool messages.
    ToolResult(ToolResult),
}

/// A call the model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Unique in the session.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments exactly as the model wrote them; valid JSON or not.
    pub arguments: String,
    /// What the vendor wants back unchanged with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Value>,
}

/// What a call gave, as the model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: CallId,
    /// The text for the model.
    pub output: String,
    /// Why it failed; absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
}

impl Message {
    /// What stands between what a person wrote and what they ran before it and send along, in every window.
    pub const RAN: &str = "\n\nI ran this myself:\n\n";

    /// What stands between what a person wrote and the content of the files and resources that it
    /// names.
    pub const ATTACHED: &str = "\n\nWhat stands in the files that I name:\n\n";

    /// Most bytes that go along of one file or resource.
    pub const MOST_OF_ONE: usize = 64 * 1024;
    /// Most bytes that go along with a message.
    pub const MOST_ATTACHED: usize = 256 * 1024;

    /// What stands between the command that a person wrote and what a prompt of an MCP server made of it.
    pub const PROMPT: &str = "\n\nThat is a prompt of an MCP server. It says:\n\n";

    /// What stands between what a person wrote and what they pipe in with it.
    pub const PIPED: &str = "\n\nThis is piped in:\n\n";

    /// What a person wrote of a text, without what was sent along.
    #[must_use]
    pub fn written(text: &str) -> &str {
        let marks = [Self::ATTACHED, Self::RAN, Self::PROMPT, Self::PIPED];
        let end = marks.iter().filter_map(|mark| text.find(mark)).min();
        end.and_then(|end| text.get(..end)).unwrap_or(text)
    }

    /// What the person says in it, which may name files and skills.
    #[must_use]
    pub fn said(&self) -> String {
        match &self.said {
            Some(said) => said.clone(),
            None => Self::written(&self.text()).to_owned(),
        }
    }

    /// Whether the person only asks for what was stopped to go on.
    #[must_use]
    pub fn asks_to_go_on(&self) -> bool {
        let said = self.said().trim().trim_end_matches(['.', '!']).to_lowercase();
        said.starts_with("continue;") || matches!(said.as_str(), "continue" | "go on" | "go on where you stopped")
    }

    /// A message of the person with one text part.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self { author: Some(Author::Person), ..Self::new(Role::User, vec![Part::Text { text: text.into() }]) }
    }

    /// A message of `parts`; nothing is said about who or which model wrote it.
    #[must_use]
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self {
            id: MessageId::new(),
            role,
            parts,
            model: None,
            author: None,
            by: None,
            said: None,
            wants: CommandWants::default(),
            stands_for: StandsFor::default(),
        }
    }

    /// A message of Neco itself to the model: it stands in the person's place in the conversation, so
    /// it says who speaks.
    #[must_use]
    pub fn neco(text: impl AsRef<str>) -> Self {
        Self { author: Some(Author::Neco), ..Self::user(format!("{NECO} {}", text.as_ref())) }
    }

    /// What a hook of the person says to the model.
    #[must_use]
    pub fn hook(text: impl Into<String>) -> Self {
        Self { author: Some(Author::Hook), ..Self::user(text) }
    }

    /// Whether Neco itself says it, or a hook of the person, rather than the person.
    #[must_use]
    pub fn is_neco(&self) -> bool {
        match (self.role, self.author) {
            (Role::User, Some(Author::Neco | Author::Hook)) => true,
            (Role::User, None) => self.reads_like_neco(),
            (Role::User, Some(Author::Person)) | (Role::Assistant | Role::Tool, _) => false,
        }
    }

    /// Logs that do not say who speaks are read by how Neco and hooks begin.
    fn reads_like_neco(&self) -> bool {
        let Some(Part::Text { text }) = self.parts.first() else { return false };
        let first = text.lines().next().unwrap_or_default();
        text.starts_with(NECO) || (first.starts_with('[') && (first.ends_with(" hook]") || first.contains(" hook: ")))
    }

    /// The tool message that carries the `results` of the calls of message `asked`: its id follows from that one's.
    #[must_use]
    pub fn results_of(asked: MessageId, results: Vec<ToolResult>) -> Self {
        Self { id: asked.of_results(), ..Self::tool_results(results) }
    }

    /// A tool message that carries `results`.
    #[must_use]
    pub fn tool_results(results: Vec<ToolResult>) -> Self {
        Self::new(Role::Tool, results.into_iter().map(Part::ToolResult).collect())
    }

    /// All text parts joined; reasoning, calls and results left out.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
            })
            .collect()
    }

    /// The calls in the order the model wrote them.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_speaks_is_known_and_not_guessed() {
        for text in ["[bug] pre-commit hook: fails", "[Neco] is a nice name", "[my hook]\nis slow"] {
            let said: Message = serde_json::from_value(serde_json::to_value(Message::user(text)).unwrap()).unwrap();
            assert!(!said.is_neco(), "{text}");
        }
        assert!(Message::neco("be brief").is_neco() && Message::hook("not yet").is_neco());
        assert!(!Message { author: None, ..Message::tool_results(Vec::new()) }.is_neco());
    }

    #[test]
    fn an_older_log_is_read_by_how_the_text_begins() {
        let old = |text: &str| -> Message {
            let part = serde_json::json!({ "kind": "text", "text": text });
            let id = MessageId::new();
            serde_json::from_value(serde_json::json!({ "id": id, "role": "user", "parts": [part] })).unwrap()
        };
        assert!(old("[Neco] today is Sunday").is_neco());
        assert!(old("[Stop hook: the work is not done yet]\nrun the tests").is_neco());
        assert!(!old("fix the build").is_neco());
    }
}
