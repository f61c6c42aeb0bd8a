//! The schema of a tool's arguments, as this vendor reads it.
//!
//! It goes as `parametersJsonSchema`, which takes JSON schema with references, unions and maps. The
//! older `parameters` takes a dialect of its own that most of this would have to be cut out of. What
//! is left to do: a reference may have nothing beside it, `const` is not known, and `$schema` says
//! nothing.

use serde_json::{Map, Value, json};

/// `schema` in the form that is understood.
pub(super) fn accepted(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let mut accepted = Map::new();
    for (name, value) in fields {
        match name.as_str() {
            "$schema" => {}
            // What must be one thing need not be one of several.
            "enum" if fields.contains_key("const") => {}
            "const" => {
                accepted.insert("enum".to_owned(), json!([value]));
            }
            "$ref" if fields.len() > 1 => {
                let taken = fields.contains_key("anyOf");
                accepted.insert(if taken { "allOf" } else { "anyOf" }.to_owned(), json!([{ "$ref": value }]));
            }
            "allOf" if fields.contains_key("$ref") && fields.contains_key("anyOf") => {}
            _ => {
                accepted.insert(name.clone(), inner(name, value));
            }
        }
    }
    if let (Some(Value::Array(all)), Some(Value::Array(own)), true) =
        (accepted.get_mut("allOf"), fields.get("allOf"), fields.contains_key("$ref") && fields.contains_key("anyOf"))
    {
        all.extend(own.iter().map(self::accepted));
    }
    Value::Object(accepted)
}

/// The value of a keyword, which may hold schemas.
fn inner(keyword: &str, value: &Value) -> Value {
    match (keyword, value) {
        ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
            named.iter().map(|(name, schema)| (name.clone(), accepted(schema))).collect()
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => schemas.iter().map(accepted).collect(),
        ("items" | "additionalProperties" | "not", schema) => accepted(schema),
        (_, value) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_is_said_otherwise() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "const": { "$ref": "#/$defs/Mode", "description": "How." },
                "list": { "type": "array", "items": { "$ref": "#/$defs/Mode" } },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["const"],
            "additionalProperties": false,
            "$defs": { "Mode": { "oneOf": [{ "const": "a", "description": "One." }, { "const": "b" }] } },
        });
        let wanted = json!({
            "type": "object",
            "properties": {
                "const": { "anyOf": [{ "$ref": "#/$defs/Mode" }], "description": "How." },
                "list": { "type": "array", "items": { "$ref": "#/$defs/Mode" } },
                "map": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": ["const"],
            "additionalProperties": false,
            "$defs": { "Mode": { "oneOf": [{ "enum": ["a"], "description": "One." }, { "enum": ["b"] }] } },
        });
        assert_eq!(accepted(&schema), wanted);
    }
}
