//! What is wrong with arguments, in words that name what would be right.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::counted::counted;

/// Characters shown of a value that does not fit.
const LONGEST: usize = 60;

/// One problem of arguments: `action: "push" is none of "status", "diff", "log"`.
pub(crate) fn words(declared: &Value, error: &ValidationError<'_>) -> String {
    let field = error.instance_path().to_string().trim_start_matches('/').replace('/', ".");
    let problem = problem(declared, error);
    if field.is_empty() { problem } else { format!("{field}: {problem}") }
}

fn problem(declared: &Value, error: &ValidationError<'_>) -> String {
    let found = shortened(&error.instance().to_string());
    match error.kind() {
        ValidationErrorKind::Enum { .. }
        | ValidationErrorKind::AnyOf { .. }
        | ValidationErrorKind::OneOfNotValid { .. }
        | ValidationErrorKind::Constant { .. }
        | ValidationErrorKind::Type { .. } => {
            let schema = around(declared, &error.schema_path().to_string());
            let advice = schema.and_then(advice).map(|text| format!(". {text}")).unwrap_or_default();
            match schema.map(wanted).unwrap_or_default() {
                Wanted { values, .. } if !values.is_empty() => {
                    format!("{found} is none of {}{advice}", values.join(", "))
                }
                Wanted { kinds, .. } if !kinds.is_empty() => {
                    format!("expected {}, found {found}", kinds.join(" or "))
                }
                Wanted { .. } => shortened(&error.to_string()),
            }
        }
        ValidationErrorKind::Required { property } => {
            format!("the field {property} is missing")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = around(declared, &error.schema_path().to_string()).map(fields).unwrap_or_default();
            unknown(unexpected, &known)
        }
        ValidationErrorKind::MinItems { limit } => format!("at least {limit} must be given"),
        ValidationErrorKind::MaxItems { limit } => format!("at most {limit} can be given"),
        ValidationErrorKind::MinLength { limit } => {
            format!("needs at least {}", counted(*limit, "character", "characters"))
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!("takes at most {}", counted(*limit, "character", "characters"))
        }
        ValidationErrorKind::Minimum { limit } => format!("{found} is less than {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{found} is more than {limit}"),
        // Foreign schemas may use every other keyword of the standard.
        _ => shortened(&error.to_string()),
    }
}

/// The schema that holds the keyword which failed.
fn around<'s>(declared: &'s Value, keyword: &str) -> Option<&'s Value> {
    let (schema, _) = keyword.rsplit_once('/')?;
    declared.pointer(schema)
}

/// What a schema takes.
#[derive(Default)]
struct Wanted {
    values: Vec<String>,
    kinds: Vec<&'static str>,
}

fn wanted(schema: &Value) -> Wanted {
    let mut wanted = Wanted::default();
    gather(schema, &mut wanted);
    wanted
}

fn gather(schema: &Value, wanted: &mut Wanted) {
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    let values = values.filter(|value| !value.is_null()).map(|value| value.to_string());
    wanted.values.extend(values);
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(kind) => kind.as_str().into_iter().collect(),
        None => Vec::new(),
    };
    for kind in kinds.into_iter().filter_map(kind_words) {
        if !wanted.kinds.contains(&kind) {
            wanted.kinds.push(kind);
        }
    }
    for inner in ["anyOf", "oneOf"].iter().filter_map(|name| schema.get(name)?.as_array()).flatten() {
        gather(inner, wanted);
    }
}

/// A kind of value; leaving a field out is always possible, so null is not told.
fn kind_words(kind: &str) -> Option<&'static str> {
    match kind {
        "string" => Some("a text"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "boolean" => Some("true or false"),
        "array" => Some("a list"),
        "object" => Some("an object"),
        _ => None,
    }
}

/// What is said of a field whose values are named.
fn advice(schema: &Value) -> Option<&str> {
    schema.get("description").and_then(Value::as_str)
}

fn fields(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|properties| properties.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn unknown(unexpected: &[String], known: &[&str]) -> String {
    let one = |name: &String| {
        let near = nearest(name, &mut known.iter().copied());
        let name = shortened(name);
        match near {
            Some(near) => format!("there is no field {name:?}; did you mean {near}?"),
            None if known.is_empty() => format!("there is no field {name:?}: it takes nothing"),
            None => format!("there is no field {name:?}; there are {}", known.join(", ")),
        }
    };
    unexpected.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The known field whose name is so near to another that it may have been meant.
pub(crate) fn nearest<'a>(name: &str, known: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|field| (strsim::jaro_winkler(name, field), field)).filter(|(score, _)| *score > 0.8);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, near)| near)
}

/// The beginning of a text.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
