//! What a request may say: the schema that it is described with, asked for its fields. A field that nobody knows is
//! refused, not dropped: whoever wrote it meant something.

use neco_proto::app::request::Describes;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

use super::problem::Problem;

/// A schema, with those that it refers to.
pub(crate) struct Schemas(Value);

impl Schemas {
    pub fn of(describes: Describes) -> Self {
        let mut generator = SchemaGenerator::default();
        let mut schema = Value::from(describes(&mut generator));
        let defined = generator.take_definitions(true);
        if let Some(all) = schema.as_object_mut() {
            all.insert("$defs".to_owned(), Value::Object(defined));
        }
        Self(schema)
    }

    /// That of a type.
    pub fn of_type<T: JsonSchema>() -> Self {
        Self::of(|generator| generator.subschema_for::<T>())
    }

    /// What is said of a field of the whole.
    pub fn fields(&self, name: &str) -> Vec<&Value> {
        let shapes = self.shapes(&self.0, None);
        shapes.into_iter().filter_map(|shape| shape.get("properties")?.get(name)).collect()
    }

    /// Refuses a value in which something stands that the schema does not have.
    pub fn must_know(&self, value: &Value) -> Result<(), Problem> {
        let Some((name, known)) = self.stray(&[&self.0], value, "") else { return Ok(()) };
        let known = if known.is_empty() { "no field at all".to_owned() } else { known.join(", ") };
        Err(Problem::bad(format!("there is no field {name} here, but {known}")))
    }

    /// The first field that a value has and none of the schemas, and those that they have there.
    fn stray(&self, schemas: &[&Value], value: &Value, at: &str) -> Option<(String, Vec<String>)> {
        let shapes: Vec<&Value> = schemas.iter().flat_map(|schema| self.shapes(schema, Some(value))).collect();
        match value {
            Value::Array(items) => {
                let of_items: Vec<&Value> = shapes.iter().filter_map(|shape| shape.get("items")).collect();
                items.iter().find_map(|item| self.stray(&of_items, item, at))
            }
            Value::Object(fields) if !shapes.iter().any(|shape| is_open(shape)) => {
                let known: Vec<&Map<String, Value>> =
                    shapes.iter().filter_map(|shape| shape.get("properties")?.as_object()).collect();
                fields.iter().find_map(|(name, field)| {
                    let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                    let of_field: Vec<&Value> = known.iter().filter_map(|all| all.get(name)).collect();
                    match of_field.is_empty() {
                        true => Some((path, known.iter().flat_map(|all| all.keys().cloned()).collect())),
                        false => self.stray(&of_field, field, &path),
                    }
                })
            }
            _ => None,
        }
    }

    /// All that a schema says of a value by itself, by what it refers to, and by those of its alternatives that fit: all
    /// of them where none does, or nothing is asked of a value.
    fn shapes<'a>(&'a self, schema: &'a Value, value: Option<&Value>) -> Vec<&'a Value> {
        let mut shapes = vec![schema];
        shapes.extend(self.referred(schema).into_iter().flat_map(|other| self.shapes(other, value)));
        shapes.extend(list(schema, "allOf").flat_map(|part| self.shapes(part, value)));
        let others = || list(schema, "anyOf").chain(list(schema, "oneOf"));
        let fits = |other: &&Value| value.is_none_or(|value| self.fits(other, value));
        let none_fits = !others().any(|other| fits(&other));
        shapes.extend(others().filter(|other| none_fits || fits(other)).flat_map(|other| self.shapes(other, value)));
        shapes
    }

    /// Whether an alternative may be what a value is: it has its kind, and its tags.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let says = |name: &str, is: &dyn Fn(&Value) -> bool| schema.get(name).is_none_or(is);
        let among = |all: &Value| all.as_array().is_none_or(|all| all.contains(value));
        let is_there = |name: &Value| name.as_str().is_none_or(|name| value.get(name).is_some());
        let has_all = |names: &Value| names.as_array().is_none_or(|names| names.iter().all(is_there));
        let tagged = |all: &Value| {
            let is = |(name, field): (&String, &Value)| match (field.get("const"), value.get(name)) {
                (Some(tag), Some(said)) => tag == said,
                _ => true,
            };
            all.as_object().is_none_or(|all| all.iter().all(is))
        };
        let alternatives = |name: &str| {
            let all: Vec<&Value> = list(schema, name).collect();
            all.is_empty() || all.iter().any(|other| self.fits(other, value))
        };
        let is_object = value.is_object();
        says("type", &|kinds| is_of(kinds, value))
            && says("const", &|only| only == value)
            && says("enum", &among)
            && (!is_object || says("required", &has_all) && says("properties", &tagged))
            && list(schema, "allOf").all(|part| self.fits(part, value))
            && alternatives("anyOf")
            && alternatives("oneOf")
            && self.referred(schema).is_none_or(|other| self.fits(other, value))
    }

    fn referred(&self, schema: &Value) -> Option<&Value> {
        let name = schema.get("$ref")?.as_str()?.rsplit('/').next()?;
        self.0.get("$defs")?.get(name)
    }

    /// Whether a schema takes values of a kind.
    pub fn takes(&self, schema: &Value, kind: &str) -> bool {
        self.shapes(schema, None).into_iter().any(|shape| {
            let typed = shape.get("type").is_some_and(|kinds| names(kinds, kind));
            let is_word = list(shape, "enum").any(Value::is_string) || shape.get("const").is_some();
            typed || kind == "string" && is_word
        })
    }
}

fn list<'a>(schema: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// Whether a schema takes any field: it is one of any value, or of a map.
fn is_open(schema: &Value) -> bool {
    let says = |names: &[&str]| names.iter().any(|name| schema.get(name).is_some());
    let is_map = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    is_map || !says(&["type", "properties", "$ref", "allOf", "anyOf", "oneOf", "const", "enum"])
}

fn names(kinds: &Value, kind: &str) -> bool {
    kinds.as_str() == Some(kind) || kinds.as_array().is_some_and(|all| all.iter().any(|one| one == kind))
}

fn is_of(kinds: &Value, value: &Value) -> bool {
    let own: &[&str] = match value {
        Value::Null => &["null"],
        Value::Bool(_) => &["boolean"],
        Value::Number(_) => &["number", "integer"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["array"],
        Value::Object(_) => &["object"],
    };
    own.iter().any(|kind| names(kinds, kind))
}

#[cfg(test)]
mod tests {
    use neco_proto::app::opening::OpenSession;
    use neco_proto::{Command, Query};
    use serde_json::json;

    use super::*;

    fn refused<T: JsonSchema>(value: Value) -> Option<String> {
        Schemas::of_type::<T>().stray(&[&Schemas::of_type::<T>().0], &value, "").map(|(name, _)| name)
    }

    #[test]
    fn a_field_that_nobody_knows_is_found_wherever_it_stands() {
        assert_eq!(refused::<OpenSession>(json!({ "folder": "/a", "foldr": "/b" })), Some("foldr".to_owned()));
        let given = json!({ "given": { "allow": ["x"], "alow": [] }, "which": { "id": "1" } });
        assert_eq!(refused::<OpenSession>(given), Some("given.alow".to_owned()));
        let said = json!({ "type": "user_message", "content": "x", "atachments": [] });
        assert_eq!(refused::<Command>(said), Some("atachments".to_owned()));
        let other = json!({ "type": "steer", "text": "x", "content": "y" });
        assert_eq!(refused::<Command>(other), Some("content".to_owned()), "it is a field of another command");
        let decision = json!({ "type": "approve", "call_id": "c", "decision": { "kind": "once", "arguments": {} } });
        assert_eq!(refused::<Command>(decision), Some("decision.arguments".to_owned()));
        assert_eq!(refused::<Query>(json!({ "type": "snapshot", "of": 1 })), Some("of".to_owned()));
    }

    #[test]
    fn what_is_said_as_it_is_meant_passes() {
        let server = json!({ "name": "x", "server": { "command": "npx", "anything": { "goes": 1 } } });
        assert_eq!(refused::<OpenSession>(json!({ "which": "new", "model": null, "servers": [server] })), None);
        let edit = json!({ "kind": "edit", "arguments": { "path": "a", "deep": [{ "b": 1 }] } });
        assert_eq!(refused::<Command>(json!({ "type": "approve", "call_id": "c", "decision": edit })), None);
        let flow = json!({ "type": "run_workflow", "definition": { "name": "x" }, "inputs": { "a": 1 } });
        assert_eq!(refused::<Command>(flow), None);
        assert_eq!(refused::<Command>(json!({ "type": "cancel" })), None);
    }
}
