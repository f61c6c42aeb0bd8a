//! What a script is told: its arguments in three ways, so that it can take the one that is easiest for it.

use std::ffi::OsString;

use serde_json::{Map, Value};

/// What the variables of arguments begin with.
const PREFIX: &str = "ARG_";

/// Bytes of a value that is given as a variable and as a word; the system takes little more. What is longer stands on
/// the standard input only.
const LONGEST: usize = 64 * 1024;

/// Bytes of all of them together.
const MOST: usize = 512 * 1024;

/// The arguments of one call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ScriptArguments {
    /// All of them as JSON, for the standard input.
    pub json: Vec<u8>,
    /// Each as a variable.
    pub variables: Vec<(OsString, OsString)>,
    /// Each as a word, in the order of the schema's properties.
    pub words: Vec<OsString>,
}

impl ScriptArguments {
    pub(super) fn new(schema: &Value, arguments: &Value) -> Self {
        let none = Map::new();
        let given = arguments.as_object().unwrap_or(&none);
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let mut room = MOST;
        let mut variables = Vec::new();
        for (name, value) in given {
            let (name, text) = (variable(name), text(value));
            let length = name.len() + text.len();
            if text.len() <= LONGEST && length <= room {
                room -= length;
                variables.push((name.into(), text.into()));
            }
        }
        // One that is not given holds the place of those behind it.
        let last = properties.keys().rposition(|name| given.contains_key(name)).map_or(0, |at| at + 1);
        let mut words = Vec::new();
        for name in properties.keys().take(last) {
            let text = given.get(name).map(text).filter(|text| text.len() <= LONGEST.min(room)).unwrap_or_default();
            room -= text.len();
            words.push(text.into());
        }
        Self { json: Value::Object(given.clone()).to_string().into_bytes(), variables, words }
    }
}

/// A text as it is, everything else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The variable of an argument: its name in capitals, with `_` for what no variable has.
fn variable(name: &str) -> String {
    let letter = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    PREFIX.chars().chain(name.chars().map(letter)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(schema: &Value, arguments: &Value) -> Vec<String> {
        let told = ScriptArguments::new(schema, arguments);
        told.words.into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn texts_are_bare_and_everything_else_is_json() {
        let given = json!({"path": "a b", "max-depth": 3, "deep": {"x": [true]}, "none": null});
        let told = ScriptArguments::new(&json!({}), &given);
        let variables: Vec<String> =
            told.variables.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        assert_eq!(variables, ["ARG_PATH=a b", "ARG_MAX_DEPTH=3", "ARG_DEEP={\"x\":[true]}", "ARG_NONE=null"]);
        assert_eq!(serde_json::from_slice::<Value>(&told.json).unwrap(), given);
        assert!(told.words.is_empty(), "no schema says in which order");
    }

    #[test]
    fn words_follow_the_schema_whatever_the_order_of_the_call() {
        let schema = json!({"properties": {"one": {}, "two": {}, "three": {}}});
        assert_eq!(words(&schema, &json!({"three": 3, "one": "1"})), ["1", "", "3"]);
        assert_eq!(words(&schema, &json!({"one": "-rf $(x)"})), ["-rf $(x)"]);
        assert!(words(&schema, &json!({})).is_empty());
    }

    #[test]
    fn what_is_too_long_for_the_system_stands_on_the_standard_input_alone() {
        let schema = json!({"properties": {"text": {}, "name": {}}});
        let given = json!({"text": "x".repeat(LONGEST + 1), "name": "n"});
        let told = ScriptArguments::new(&schema, &given);
        assert_eq!((told.variables.len(), told.json.len() > LONGEST), (1, true));
        assert_eq!(words(&schema, &given), ["", "n"]);
        let many: Map<String, Value> = (0..100).map(|at| (format!("a{at}"), json!("x".repeat(LONGEST)))).collect();
        let told = ScriptArguments::new(&json!({}), &Value::Object(many));
        assert!(told.variables.iter().map(|(_, value)| value.len()).sum::<usize>() <= MOST);
    }
}
