//! Checks of what was asked.

use neco_proto::{ErrorCode, Message, Part, Role, ToolResult};
use serde::{Deserialize, Serialize};

use crate::request::Request;

/// What a request must look like. Every field that is given is checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// In the newest message of the user.
    pub last_user_contains: Option<String>,
    /// How many pictures are in the newest message that a person wrote.
    pub last_user_pictures: Option<usize>,
    /// In the newest tool result.
    pub last_tool_contains: Option<String>,
    /// The error code of the newest tool result; 0 for success.
    pub last_tool_error: Option<u16>,
    /// How many results the newest tool message has.
    pub tool_results: Option<usize>,
    /// In the system prompt.
    pub system_contains: Option<String>,
    /// Tools that the model must not be told of, in full or in a line.
    pub tools_exclude: Vec<String>,
    /// Tools that must be declared.
    pub tools_declared: Vec<String>,
    /// Tools that must stand in the list of those that are not.
    pub tools_listed: Vec<String>,
    /// How many messages the conversation has.
    pub messages: Option<usize>,
}

impl Expect {
    /// The newest message of the user must contain this.
    pub fn user(text: &str) -> Self {
        Self { last_user_contains: Some(text.to_owned()), ..Self::default() }
    }

    /// The newest tool result must contain this.
    pub fn tool(text: &str) -> Self {
        Self { last_tool_contains: Some(text.to_owned()), ..Self::default() }
    }

    /// Whether `request` is as expected; says what is not.
    /// The error is the first thing that is otherwise.
    pub fn check(&self, request: &Request) -> Result<(), String> {
        if let Some(wanted) = &self.last_user_contains {
            let text = newest(request, Role::User).map(Message::text).unwrap_or_default();
            contains("the newest user message", &text, wanted)?;
        }
        if let Some(wanted) = self.last_user_pictures {
            let is_picture = |part: &&Part| matches!(part, Part::Image { .. });
            // What Neco itself says beside it has none.
            let messages = request.history.iter().rev().map(|entry| entry.message());
            let said = messages.filter(|message| message.role == Role::User).find(|message| !message.is_neco());
            let parts = said.map(|message| message.parts.iter().filter(is_picture));
            equal("number of pictures in the newest user message", parts.map_or(0, Iterator::count), wanted)?;
        }
        if let Some(wanted) = &self.system_contains {
            contains("the system prompt", &request.system, wanted)?;
        }
        self.check_results(request)?;
        self.check_tools(request)?;
        match self.messages {
            Some(wanted) => equal("number of messages", request.history.len(), wanted),
            None => Ok(()),
        }
    }

    fn check_results(&self, request: &Request) -> Result<(), String> {
        let results: Vec<&ToolResult> = newest(request, Role::Tool).map(results).unwrap_or_default();
        let last = results.last();
        if let Some(wanted) = &self.last_tool_contains {
            contains("the newest tool result", last.map_or("", |result| &result.output), wanted)?;
        }
        if let Some(wanted) = self.last_tool_error {
            let last = last.ok_or("there is no tool result")?;
            let code = last.error_code.map_or(0, ErrorCode::number);
            equal("error code of the newest tool result", code, wanted)
                .map_err(|error| format!("{error}; it reads {}", shown(&last.output)))?;
        }
        match self.tool_results {
            Some(wanted) => equal("number of tool results", results.len(), wanted),
            None => Ok(()),
        }
    }

    fn check_tools(&self, request: &Request) -> Result<(), String> {
        let declared = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let listed = |name: &str| request.lists(name);
        for name in &self.tools_exclude {
            told(name, "neither declared nor listed", !declared(name) && !listed(name))?;
        }
        for name in &self.tools_declared {
            told(name, "declared", declared(name))?;
        }
        for name in &self.tools_listed {
            told(name, "listed", listed(name))?;
        }
        Ok(())
    }
}

fn told(name: &str, how: &str, is_so: bool) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(format!("the tool {name} must be {how}, and is not")) }
}

fn newest(request: &Request, role: Role) -> Option<&Message> {
    request.history.iter().rev().map(|entry| entry.message()).find(|message| message.role == role)
}

fn results(message: &Message) -> Vec<&ToolResult> {
    let parts = message.parts.iter();
    parts
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
        })
        .collect()
}

fn contains(what: &str, text: &str, wanted: &str) -> Result<(), String> {
    if text.contains(wanted) {
        return Ok(());
    }
    Err(format!("{what} should contain {wanted:?} but reads {}", shown(text)))
}

fn equal<T: PartialEq + std::fmt::Display>(what: &str, found: T, wanted: T) -> Result<(), String> {
    if found == wanted { Ok(()) } else { Err(format!("the {what} should be {wanted} but is {found}")) }
}

fn shown(text: &str) -> String {
    let short: String = text.chars().take(400).collect();
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::request::ToolDeclaration;

    fn request() -> Request {
        let result = ToolResult {
            call_id: "a".into(),
            output: "no such file".to_owned(),
            error_code: Some(ErrorCode::FileNotFound),
        };
        let tool = |name: &str, description: &str| ToolDeclaration {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: serde_json::json!({}),
        };
        Request {
            system: "You are Neco.".into(),
            tools: Arc::new([tool("grep", ""), tool("activate", "There are:\n- git: status, diff")]),
            history: [Message::user("fix it"), Message::tool_results(vec![result])].into_iter().collect(),
            cache_key: String::new(),
            output: None,
            temperature: None,
            max_output: None,
            agent: None,
        }
    }

    #[test]
    fn what_is_as_expected_passes() {
        let expect: Expect = serde_json::from_str(
            r#"{"last_user_contains":"fix","last_user_pictures":0,"last_tool_contains":"no such","last_tool_error":2001,"tool_results":1,
                "system_contains":"Neco","tools_exclude":["shell","gi"],
                "tools_declared":["grep"],"tools_listed":["git"],"messages":2}"#,
        )
        .unwrap();
        assert_eq!(expect.check(&request()), Ok(()));
    }

    #[test]
    fn what_is_not_is_said() {
        for (json, words) in [
            (r#"{"last_user_contains":"break"}"#, "reads \"fix it\""),
            (r#"{"last_user_pictures":1}"#, "should be 1 but is 0"),
            (r#"{"last_tool_contains":"ok"}"#, "no such file"),
            (r#"{"last_tool_error":0}"#, "should be 0 but is 2001"),
            (r#"{"tool_results":2}"#, "should be 2 but is 1"),
            (r#"{"system_contains":"x"}"#, "system prompt"),
            (r#"{"tools_declared":["shell"]}"#, "shell must be declared"),
            (r#"{"tools_exclude":["grep"]}"#, "grep must be neither declared nor listed"),
            (r#"{"tools_exclude":["git"]}"#, "git must be neither declared nor listed"),
            (r#"{"tools_declared":["git"]}"#, "git must be declared"),
            (r#"{"tools_listed":["grep"]}"#, "grep must be listed"),
            (r#"{"messages":3}"#, "should be 3 but is 2"),
        ] {
            let expect: Expect = serde_json::from_str(json).unwrap();
            let error = expect.check(&request()).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
