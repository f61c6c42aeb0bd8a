//! JSON schemas of arguments: derived, trimmed to what a model needs, and checked against.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use neco_proto::ErrorCode;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::output::ToolError;
use crate::{fitting, misfit};

/// The schema of a tool's arguments, and the validator built from it when it is first needed: a
/// run that never calls the tool never pays for it. Copies share both.
#[derive(Clone)]
pub struct ArgumentSchema(Arc<Schema>);

struct Schema {
    declared: Value,
    /// With what a model has no use for.
    full: Value,
    validator: OnceLock<Option<Validator>>,
}

/// The schema of `Args`, made once: every session of the process has these tools.
pub fn of<Args: JsonSchema + 'static>() -> ArgumentSchema {
    static MADE: LazyLock<Mutex<HashMap<TypeId, ArgumentSchema>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(TypeId::of::<Args>()).or_insert_with(made_of::<Args>).clone()
}

fn made_of<Args: JsonSchema>() -> ArgumentSchema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<Args>();
    ArgumentSchema::new(schema.to_value())
}

impl ArgumentSchema {
    /// A schema that comes from elsewhere, such as a configuration file.
    pub fn new(mut declared: Value) -> Self {
        let full = declared.clone();
        trim(&mut declared);
        Self(Arc::new(Schema { declared, full, validator: OnceLock::new() }))
    }

    /// The schema as a model is told.
    pub fn declared(&self) -> &Value {
        &self.0.declared
    }

    /// The schema with everything that was said of the arguments, such as how long a number may be.
    pub(crate) fn full(&self) -> &Value {
        &self.0.full
    }

    /// Why it is no JSON schema, if it is none.
    pub fn problem(&self) -> Option<String> {
        let error = jsonschema::validator_for(&self.0.declared).err()?;
        let place = error.instance_path().to_string();
        Some(if place.is_empty() { error.to_string() } else { format!("{error} (at {place})") })
    }

    /// Makes arguments fit that are meant right and written otherwise, and checks them; says what was made of them.
    /// Fails with [`ErrorCode::InvalidArguments`] with every field that does not fit.
    pub fn fit(&self, arguments: &mut Value) -> Result<Vec<String>, ToolError> {
        fitting::unpack(&self.0.full, arguments);
        let notes = fitting::fit(&self.0.full, arguments, true);
        self.check(arguments)?;
        Ok(notes)
    }

    /// Checks arguments against the schema.
    /// Fails with [`ErrorCode::InvalidArguments`] with every field that does not fit.
    pub fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let Schema { declared, validator, .. } = &*self.0;
        let Some(validator) = validator.get_or_init(|| jsonschema::validator_for(declared).ok()) else {
            return Err(ToolError::failed("the schema of this tool's arguments is not a valid JSON schema"));
        };
        let problems: Vec<String> =
            validator.iter_errors(arguments).map(|error| misfit::words(declared, &error)).collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(ToolError::new(ErrorCode::InvalidArguments, problems.join("; ")))
    }
}

/// Takes away what a model has no use for and pays tokens for: titles and number formats.
fn trim(schema: &mut Value) {
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("format");
        object.remove("$schema");
        // The description of the argument struct is for its author; the tool has one of its own.
        object.remove("description");
    }
    trim_properties(schema);
}

fn trim_properties(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                for property in properties.values_mut() {
                    if let Some(property) = property.as_object_mut() {
                        property.remove("title");
                        property.remove("format");
                    }
                }
            }
            object.values_mut().for_each(trim_properties);
        }
        Value::Array(items) => items.iter_mut().for_each(trim_properties),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Args {
        /// Where.
        path: String,
        /// How much.
        limit: Option<u32>,
        title: Option<String>,
    }

    #[test]
    fn the_declared_schema_is_lean_and_keeps_field_docs() {
        let schema = of::<Args>();
        let text = schema.declared().to_string();
        assert!(text.contains("Where."), "{text}");
        assert!(!text.contains("\"format\"") && !text.contains("$schema"), "{text}");
        assert!(schema.declared()["properties"].get("title").is_some(), "a field called title stays: {text}");
    }

    #[test]
    fn an_error_names_the_field() {
        let schema = of::<Args>();
        assert!(schema.check(&json!({"path": "a"})).is_ok());
        let error = schema.check(&json!({"path": 1, "limit": "x"})).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments);
        assert!(error.message.contains("path:") && error.message.contains("limit:"), "{}", error.message);
        let error = schema.check(&json!({"pth": "a"})).unwrap_err();
        assert!(error.message.contains("path"), "{}", error.message);
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Kind {
        /// One.
        One,
        /// Two.
        Two,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)]
    enum Plain {
        Fast,
        Slow,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Choosy {
        kind: Option<Kind>,
        /// To wait use bash.
        speed: Option<Plain>,
        limit: Option<u32>,
        inner: Option<Vec<Inner>>,
        #[schemars(length(min = 1))]
        items: Vec<String>,
    }

    #[derive(serde::Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        kind: Kind,
    }

    #[test]
    fn an_error_says_what_would_be_right() {
        let wrong = |arguments: Value| of::<Choosy>().check(&arguments).unwrap_err().message;
        assert_eq!(wrong(json!({"kind": "done", "items": ["a"]})), "kind: \"done\" is none of \"one\", \"two\"");
        let inner = wrong(json!({"inner": [{"kind": 3}], "items": ["a"]}));
        assert_eq!(inner, "inner.0.kind: 3 is none of \"one\", \"two\"");
        let advised = wrong(json!({"speed": "push", "items": ["a"]}));
        assert_eq!(advised, "speed: \"push\" is none of \"fast\", \"slow\". To wait use bash.");
        assert_eq!(wrong(json!({"items": []})), "items: at least 1 must be given");
        assert_eq!(wrong(json!({"items": ["a"], "limit": "x"})), "limit: expected a whole number, found \"x\"");
        assert_eq!(wrong(json!({"items": ["a"], "inner": ["b"]})), "inner.0: expected an object, found \"b\"");
        let none = "there is no field \"text\"; there are kind, speed, limit, inner, items";
        assert_eq!(wrong(json!({"items": ["a"], "text": 1})), none);
        let near = wrong(json!({"items": ["a"], "limits": 1}));
        assert_eq!(near, "there is no field \"limits\"; did you mean limit?");
        assert_eq!(wrong(json!({})), "the field \"items\" is missing");
        let long = wrong(json!({"items": ["x".repeat(1000)], "limit": "x".repeat(1000)}));
        assert!(long.chars().count() < 120, "{long}");
    }
}
