//! The tools that a call may name.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::spot::Trust;
use crate::request::ToolDeclaration;

/// The tools of a request.
#[derive(Clone, Debug)]
pub struct Declared {
    tools: Arc<[ToolDeclaration]>,
}

impl Declared {
    /// The tools of a request.
    pub fn new(tools: Arc<[ToolDeclaration]>) -> Self {
        Self { tools }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether a call may name this tool. A model that was told how to write calls and names one that
    /// does not exist is told so like any other.
    pub(super) fn admits(&self, name: &str, trust: Trust) -> bool {
        match trust {
            Trust::Guessed => self.has(name),
            Trust::Told => !name.is_empty(),
        }
    }

    /// Whether `arguments` can be meant for the tool: at least half of their names are its own, and
    /// there are some where it wants some. A model that was told how to write calls may err: the tool
    /// says what is wrong.
    pub(super) fn fit(&self, name: &str, arguments: &Map<String, Value>, trust: Trust) -> bool {
        if trust == Trust::Told {
            return true;
        }
        let Some(tool) = self.get(name) else { return false };
        let Some(properties) = tool.schema.get("properties").and_then(Value::as_object) else { return true };
        let wants_some = tool.schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty());
        let known = arguments.keys().filter(|name| properties.contains_key(*name)).count();
        if arguments.is_empty() { !wants_some } else { known * 2 >= arguments.len() }
    }

    /// Whether an argument is text, so that what stands there is not read as JSON.
    pub(super) fn is_text(&self, tool: &str, argument: &str) -> bool {
        let Some(tool) = self.get(tool) else { return false };
        let schema = tool.schema.get("properties").and_then(|properties| properties.get(argument));
        match schema.and_then(|schema| schema.get("type")) {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            _ => false,
        }
    }

    fn get(&self, name: &str) -> Option<&ToolDeclaration> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
