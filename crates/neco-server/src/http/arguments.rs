//! The arguments of a call, from its path, its query and its body.

use neco_proto::app::Described;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::problem::Problem;

/// What the words of a path and a query mean, as the schema of a request has it.
pub(crate) struct Fields(Value);

impl Fields {
    pub fn of(described: &Described) -> Self {
        let mut generator = SchemaGenerator::default();
        let schema = (described.request)(&mut generator);
        let mut schema = Value::from(schema);
        let defined = generator.take_definitions(true);
        if let Some(all) = schema.as_object_mut() {
            all.insert("$defs".to_owned(), Value::Object(defined));
        }
        Self(schema)
    }

    /// A field from its words: text stays text, all else is read as JSON.
    fn read(&self, name: &str, words: &str) -> Value {
        let is_text = self.field(self.resolved(&self.0), name).is_none_or(|field| self.takes(field, "string"));
        match serde_json::from_str(words) {
            Ok(value) if !is_text => value,
            Ok(_) | Err(_) => Value::String(words.to_owned()),
        }
    }

    fn is_list(&self, name: &str) -> bool {
        self.field(self.resolved(&self.0), name).is_some_and(|field| self.takes(field, "array"))
    }

    fn field<'a>(&'a self, schema: &'a Value, name: &str) -> Option<&'a Value> {
        if let Some(field) = schema.get("properties").and_then(|all| all.get(name)) {
            return Some(field);
        }
        let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.map(|part| self.resolved(part)).find_map(|part| self.field(part, name))
    }

    /// Follows references.
    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        match name.and_then(|name| self.0.get("$defs")?.get(name)) {
            Some(found) => self.resolved(found),
            None => schema,
        }
    }

    /// Whether a schema takes values of a kind.
    fn takes(&self, schema: &Value, kind: &str) -> bool {
        let schema = self.resolved(schema);
        let among = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
        let typed = match schema.get("type") {
            Some(Value::String(only)) => only == kind,
            Some(Value::Array(several)) => several.iter().any(|one| one == kind),
            _ => false,
        };
        typed
            || kind == "string" && (among("enum").any(Value::is_string) || schema.get("const").is_some())
            || ["anyOf", "oneOf", "allOf"].iter().any(|name| among(name).any(|part| self.takes(part, kind)))
    }
}

/// The arguments of a call. What stands in the path outranks the rest.
pub(crate) fn arguments(
    fields: &Fields,
    path: &[(String, String)],
    query: Option<&str>,
    body: &[u8],
) -> Result<Value, Problem> {
    let mut all = match body {
        [] => Map::new(),
        body => match serde_json::from_slice(body) {
            Ok(Value::Object(all)) => all,
            Ok(_) => return Err(Problem::bad("the body is no JSON object")),
            Err(error) => return Err(Problem::bad(format!("the body is no JSON: {error}"))),
        },
    };
    for (name, words) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match all.get_mut(name.as_ref()) {
            Some(Value::Array(several)) if fields.is_list(&name) => several.push(Value::String(words.into_owned())),
            Some(_) => return Err(Problem::bad(format!("{name} is said twice"))),
            None if fields.is_list(&name) && !words.starts_with('[') => {
                all.insert(name.into_owned(), Value::Array(vec![Value::String(words.into_owned())]));
            }
            None => {
                let value = fields.read(&name, &words);
                all.insert(name.into_owned(), value);
            }
        }
    }
    for (name, words) in path {
        all.insert(name.clone(), fields.read(name, words));
    }
    Ok(Value::Object(all))
}
