//! What a model is asked.

use std::sync::Arc;

use serde_json::Value;

use crate::history::History;

/// One question to a model. Cheap to clone: everything big is shared.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools the model may call.
    pub tools: Arc<[ToolDeclaration]>,
    /// The conversation so far.
    pub history: History,
    /// Stable for a session, so that vendors with a prompt cache can route to it.
    pub cache_key: String,
    /// The form that the answer must have, for vendors that can hold a model to one.
    pub output: Option<Arc<OutputSchema>>,
    /// How freely the model should choose its words, from 0 to 2. What the name of the model says comes first, and
    /// models that take no such wish are not told.
    pub temperature: Option<f64>,
    /// Most tokens of the answer. What the name of the model says comes first.
    pub max_output: Option<u64>,
    /// The name of the definition of the agent that asks; none for the root. No vendor is told.
    pub agent: Option<Arc<str>>,
}

impl Request {
    /// Whether the model is told of a tool in a line only.
    pub fn lists(&self, tool: &str) -> bool {
        let begin = format!("- {tool}: ");
        let mut activate = self.tools.iter().filter(|declared| declared.name == ACTIVATE);
        activate.any(|activate| activate.description.lines().any(|line| line.starts_with(&begin)))
    }
}

/// The form of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSchema {
    /// A word for it.
    pub name: String,
    /// JSON schema of the answer.
    pub schema: Value,
}

impl OutputSchema {
    /// Whether it can be held to strictly: in every object all fields are named and required.
    pub fn is_strict(&self) -> bool {
        is_strict(&self.schema)
    }
}

/// The declared tool by which a model calls those that it was told of otherwise: `call{name, arguments}`. Where it is
/// declared, earlier calls of tools that are not go to a model in this form, which is how it made them.
pub const CALL: &str = "call";

/// The declared tool that tells how those are called; its description ends with a line for each of them.
pub const ACTIVATE: &str = "activate";

/// A tool as a model is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDeclaration {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
}

fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let properties = fields.get("properties").and_then(Value::as_object);
            let closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            let required = fields.get("required").and_then(Value::as_array);
            let all = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
            properties.is_none_or(|properties| closed && properties.keys().all(all)) && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strict_schemas_name_and_require_everything() {
        let schema = |schema: Value| OutputSchema { name: "x".to_owned(), schema }.is_strict();
        let closed =
            json!({ "type": "object", "properties": { "a": {} }, "required": ["a"], "additionalProperties": false });
        assert!(schema(closed.clone()) && schema(json!({ "type": "string" })));
        assert!(schema(json!({ "type": "array", "items": closed })));
        assert!(!schema(json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] })));
        assert!(!schema(json!({ "items": { "properties": { "a": {} }, "additionalProperties": false } })));
    }
}
