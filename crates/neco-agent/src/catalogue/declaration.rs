//! A tool as a model is told of it.

use neco_model::ToolDeclaration;
use neco_safety::invisible;
use neco_toolkit::DynTool;
use serde_json::{Map, Value};

/// What a model is told of a tool.
pub(crate) fn declaration(tool: &dyn DynTool) -> ToolDeclaration {
    ToolDeclaration {
        name: tool.name().to_owned(),
        description: invisible::seen(tool.description().trim()).text.into_owned(),
        schema: seen_in(lean(tool.schema())),
    }
}

/// A schema in whose texts everything can be seen: whoever brings a tool along writes them.
fn seen_in(schema: Value) -> Value {
    match schema {
        Value::String(text) => Value::String(invisible::seen(&text).text.into_owned()),
        Value::Array(items) => items.into_iter().map(seen_in).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, seen_in(value))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// The same schema in fewer words.
fn lean(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let required: Vec<&str> = match fields.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut told = Map::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            // What has a default is not required, and what is unknown is refused with the right names.
            ("default" | "additionalProperties", Value::Bool(_) | Value::Null | Value::String(_) | Value::Array(_)) => {
            }
            // Nobody asks for less than nothing, or for none of what is wanted.
            ("minimum" | "minItems", Value::Number(least))
                if least.as_f64().is_some_and(|least| (0.0..=1.0).contains(&least)) => {}
            ("properties", Value::Object(properties)) => {
                let property = |(name, value): (&String, &Value)| {
                    let value = lean(value);
                    (name.clone(), if required.contains(&name.as_str()) { value } else { without_null(value) })
                };
                told.insert(name.clone(), Value::Object(properties.iter().map(property).collect()));
            }
            ("items", items) => drop(told.insert(name.clone(), lean(items))),
            ("anyOf" | "oneOf", Value::Array(choices)) => match names_of(choices) {
                Some(names) => {
                    told.insert("type".to_owned(), Value::from("string"));
                    told.insert("enum".to_owned(), Value::Array(names));
                }
                None => drop(told.insert(name.clone(), Value::Array(choices.iter().map(lean).collect()))),
            },
            (_, value) => drop(told.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(told)
}

/// The names that can be chosen, where every choice is a name, or nothing.
fn names_of(choices: &[Value]) -> Option<Vec<Value>> {
    let mut names = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("oneOf"), choice.get("enum"), choice.get("type")) {
            (Some(Value::String(name)), ..) => names.push(Value::from(name.as_str())),
            (None, Some(Value::Array(inner)), ..) => names.extend(names_of(inner)?),
            (None, None, Some(Value::Array(inner)), _) if inner.iter().all(Value::is_string) => {
                names.extend(inner.iter().cloned());
            }
            (None, None, None, Some(Value::String(kind))) if kind == "null" => {}
            (..) => return None,
        }
    }
    (!names.is_empty()).then_some(names)
}

/// What may be left out need not be told to be nothing.
fn without_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(names)) = fields.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_hides_nothing() {
        let schema = serde_json::json!({ "properties": { "a": { "description": "x\u{200b}y", "enum": ["z", 1] } } });
        let seen = serde_json::json!({ "properties": { "a": { "description": "x⟨U+200B⟩y", "enum": ["z", 1] } } });
        assert_eq!(seen_in(schema), seen);
    }

    #[test]
    fn what_a_model_needs_is_left() {
        let whole = json!({
            "type": "object", "additionalProperties": false, "required": ["path", "old"],
            "properties": {
                "path": { "type": "string", "description": "Where." },
                "old": { "type": ["string", "null"] },
                "limit": { "type": ["integer", "null"], "minimum": 0, "maximum": 9 },
                "names": { "type": "array", "minItems": 1, "items": { "type": "number", "minimum": 2 } },
                "default": { "type": "boolean", "default": false },
                "signal": { "type": ["string", "null"], "enum": ["term", "kill", null] },
                "status": { "description": "How.", "anyOf": [
                    { "description": "x", "oneOf": [
                        { "description": "Not begun.", "type": "string", "const": "pending" },
                        { "description": "Done.", "type": "string", "const": "done" },
                    ] },
                    { "type": "null" },
                ] },
                "parts": { "type": "array", "default": [], "items": {
                    "type": "object", "additionalProperties": false,
                    "properties": { "id": { "type": ["string", "null"] } },
                } },
            },
        });
        let told = json!({
            "type": "object", "required": ["path", "old"],
            "properties": {
                "path": { "type": "string", "description": "Where." },
                "old": { "type": ["string", "null"] },
                "limit": { "type": "integer", "maximum": 9 },
                "names": { "type": "array", "items": { "type": "number", "minimum": 2 } },
                "default": { "type": "boolean" },
                "signal": { "type": "string", "enum": ["term", "kill"] },
                "status": { "description": "How.", "type": "string", "enum": ["pending", "done"] },
                "parts": { "type": "array", "items": { "type": "object", "properties": { "id": { "type": "string" } } } },
            },
        });
        assert_eq!(lean(&whole), told);
    }

    #[test]
    fn what_is_no_list_of_names_stays() {
        let choices = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
        assert_eq!(lean(&choices), choices);
        let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        assert_eq!(lean(&map), map);
        assert_eq!(lean(&json!(true)), json!(true));
    }
}
