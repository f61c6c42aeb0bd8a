//! Arguments as models really write them: JSON, nearly JSON, or not at all.

use neco_proto::ErrorCode;
use serde_json::{Map, Value};

use crate::output::ToolError;

/// Arguments that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadArguments {
    /// The arguments, always an object.
    pub value: Value,
    /// What had to be mended, for the model.
    pub note: Option<&'static str>,
}

/// Reads a call's arguments. Nothing at all stands for no arguments; malformed JSON is mended when
/// that loses nothing; text that was cut off is never mended, because what is missing can't be known.
/// Fails with [`ErrorCode::InvalidArguments`] with the position of the mistake.
pub fn read_arguments(text: &str) -> Result<ReadArguments, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(ReadArguments { value: Value::Object(Map::new()), note: None });
    }
    match serde_json::from_str(text) {
        Ok(value) => object(value),
        Err(error) if error.is_eof() || !is_closed(text) => {
            Err(invalid(&format!("the arguments are cut off ({error})")))
        }
        Err(error) => mend(text, &error),
    }
}

/// Some models send the object as a string that holds it.
fn object(value: Value) -> Result<ReadArguments, ToolError> {
    match value {
        Value::Object(_) => Ok(ReadArguments { value, note: None }),
        Value::Null => Ok(ReadArguments { value: Value::Object(Map::new()), note: None }),
        Value::String(inner) => match serde_json::from_str(&inner) {
            Ok(value @ Value::Object(_)) => Ok(ReadArguments {
                value,
                note: Some("the arguments were a string that holds JSON; send the object itself"),
            }),
            _ => Err(invalid("the arguments are a string, not an object")),
        },
        Value::Array(_) => Err(invalid("the arguments are an array, not an object")),
        Value::Bool(_) | Value::Number(_) => Err(invalid("the arguments are not an object")),
    }
}

fn mend(text: &str, error: &serde_json::Error) -> Result<ReadArguments, ToolError> {
    let mended = jsonrepair_rs::jsonrepair(text).ok().and_then(|mended| serde_json::from_str(&mended).ok());
    match mended {
        Some(value @ Value::Object(_)) if text.starts_with('{') && text.ends_with('}') => Ok(ReadArguments {
            value,
            note: Some("the arguments were not valid JSON and were mended before the call ran; send valid JSON"),
        }),
        _ => Err(invalid(&format!("the arguments are not valid JSON ({error})"))),
    }
}

/// Whether every string and bracket that was opened is closed again. What is not may have lost its
/// end, and a mended half of a file must never be written.
fn is_closed(text: &str) -> bool {
    let (mut depth, mut quote, mut escaped) = (0_i32, None, false);
    for char in text.chars() {
        match (quote, char) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if open == char => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(char),
            (None, '{' | '[') => depth += 1,
            (None, '}' | ']') => depth -= 1,
            (None, _) => {}
        }
    }
    depth == 0 && quote.is_none()
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_models_write_is_read_or_refused() {
        let table = [
            ("", Some(json!({})), false),
            ("null", Some(json!({})), false),
            (r#"{"path":"a"}"#, Some(json!({"path":"a"})), false),
            (r#"{"path":"a",}"#, Some(json!({"path":"a"})), true),
            (r#"{'path':'a'}"#, Some(json!({"path":"a"})), true),
            (r#"{path:"a"}"#, Some(json!({"path":"a"})), true),
            ("{\"text\":\"two\nlines\"}", Some(json!({"text":"two\nlines"})), true),
            (r#""{\"path\":\"a\"}""#, Some(json!({"path":"a"})), true),
            (r#"{"path":"a"#, None, false),
            (r#"{"path":"a","content":"half of a fi"#, None, false),
            ("{'path':'a','content':'half}", None, false),
            ("{\"path\":\"a\",\"content\":\"one\ntwo}", None, false),
            ("{path:\"a\",\"content\":\"x}}", None, false),
            (r#"["a"]"#, None, false),
            ("true", None, false),
            ("rm -rf /", None, false),
        ];
        for (text, expected, noted) in table {
            match (read_arguments(text), expected) {
                (Ok(read), Some(value)) => {
                    assert_eq!(read.value, value, "{text}");
                    assert_eq!(read.note.is_some(), noted, "{text}");
                }
                (Err(error), None) => assert_eq!(error.code, ErrorCode::InvalidArguments, "{text}"),
                (got, expected) => panic!("{text}: got {got:?}, expected {expected:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(text in ".{0,200}") {
            if let Ok(read) = read_arguments(&text) {
                prop_assert!(read.value.is_object());
            }
        }

        #[test]
        fn a_cut_object_is_never_mended(
            key in "[a-z]{1,8}",
            value in "[a-z \\n{}]{0,40}",
            style in 0u8..4,
            keep in 1usize..80,
        ) {
            // As a strict writer, one with single quotes, one without quoted keys and one with raw newlines would.
            let whole = match style {
                0 => json!({ key: value, "more": [1, 2] }).to_string(),
                1 => format!("{{'{key}':'{value}','more':[1,2]}}"),
                2 => format!("{{{key}:\"{value}\",more:[1,2]}}"),
                _ => format!("{{\"{key}\":\"{value}\n\",\"more\":[1,2]}}"),
            };
            let cut: String = whole.chars().take(keep).collect();
            if cut.len() < whole.len() {
                prop_assert!(read_arguments(&cut).is_err(), "{cut}");
            }
        }
    }
}
