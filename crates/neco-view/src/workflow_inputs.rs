//! The inputs of a workflow as people write them: `NAME=VALUE`.

use std::collections::BTreeMap;

use neco_proto::app::workflows::WorkflowInput;
use neco_proto::app::{AppError, Trouble};
use serde_json::{Map, Value};

/// Reads `NAME=VALUE`. A value is of the kind that the input's default has; one without a default is text.
///
/// # Errors
/// When one has no name, is there twice, or is of another kind.
pub fn read(written: &[String], known: &BTreeMap<String, WorkflowInput>) -> Result<Map<String, Value>, AppError> {
    let mut inputs = Map::new();
    for text in written {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| wrong(format!("`{text}` has no name: inputs are written NAME=VALUE")))?;
        let name = name.trim();
        let usual = known.get(name).and_then(|input| input.default.as_ref());
        let value = match usual {
            None | Some(Value::String(_) | Value::Null) => Value::from(value),
            Some(usual) => of_kind(name, value, usual)?,
        };
        if inputs.insert(name.to_owned(), value).is_some() {
            return Err(wrong(format!("the input {name} is there twice")));
        }
    }
    Ok(inputs)
}

/// A value that is written as text and means something of the kind of `usual`.
fn of_kind(name: &str, written: &str, usual: &Value) -> Result<Value, AppError> {
    let kind = |value: &Value| match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list in JSON",
        Value::Object(_) => "an object in JSON",
    };
    let read = serde_json::from_str::<Value>(written.trim()).ok().filter(|read| kind(read) == kind(usual));
    read.ok_or_else(|| wrong(format!("the input {name} is {}, not {written:?}", kind(usual))))
}

fn wrong(words: String) -> AppError {
    AppError::new(Trouble::Invalid, words)
}

/// The inputs that a workflow needs, as they are written behind its name.
#[must_use]
pub fn needed(known: &BTreeMap<String, WorkflowInput>) -> String {
    let needed = known.iter().filter(|(_, input)| input.default.is_none());
    needed.map(|(name, _)| format!(" --input {name}=\"…\"")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inputs_keep_their_kind() {
        let known = json!({
            "goal": { "description": "" },
            "check": { "description": "", "default": "" },
            "research": { "description": "", "default": false },
            "n": { "description": "", "default": 1 },
            "list": { "description": "", "default": [] },
        });
        let known = serde_json::from_value(known).unwrap();
        let read = |texts: &[&str]| read(&texts.iter().map(ToString::to_string).collect::<Vec<_>>(), &known);
        let read_all = read(&["goal=a=b", "research=true", "n=3", "list=[1]", "check=false", "quoted=\"x\""]).unwrap();
        let wanted =
            json!({ "goal": "a=b", "research": true, "n": 3, "list": [1], "check": "false", "quoted": "\"x\"" });
        assert_eq!(Value::Object(read_all), wanted);
        assert_eq!(Value::Object(read(&["goal=3", "check="]).unwrap()), json!({ "goal": "3", "check": "" }));
        assert_eq!(
            read(&["research=maybe"]).unwrap_err().message,
            "the input research is true or false, not \"maybe\""
        );
        assert!(read(&["goal"]).is_err() && read(&["a=1", "a=2"]).is_err());
        assert_eq!(needed(&known), " --input goal=\"…\"");
    }
}
