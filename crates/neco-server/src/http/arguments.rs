//! The arguments of a call, from its path, its query and its body.

use neco_proto::app::Described;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::problem::Problem;
use super::schemas::Schemas;

/// What the words of a path and a query mean, as the schema of a request has it.
pub(crate) struct Fields(Schemas);

impl Fields {
    pub fn of(described: &Described) -> Self {
        Self(Schemas::of(described.request))
    }

    /// A field from its words: text stays text, all else is read as JSON.
    fn read(&self, name: &str, words: &str) -> Value {
        let fields = self.0.fields(name);
        let is_text = fields.is_empty() || fields.iter().any(|field| self.0.takes(field, "string"));
        match serde_json::from_str(words) {
            Ok(value) if !is_text => value,
            Ok(_) | Err(_) => Value::String(words.to_owned()),
        }
    }

    fn is_list(&self, name: &str) -> bool {
        self.0.fields(name).iter().any(|field| self.0.takes(field, "array"))
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
    let all = Value::Object(all);
    fields.0.must_know(&all)?;
    Ok(all)
}
