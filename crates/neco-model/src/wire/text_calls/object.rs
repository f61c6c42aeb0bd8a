//! What a JSON value says, if it is a call or a list of calls.

use serde_json::{Map, Value};

use super::scan::{ARGUMENTS, NAMES, Scan, WRAPPERS};
use super::spot::{Declared, TextCall, Trust};

/// Calls inside of calls inside of calls are no calls.
const DEEPEST: usize = 3;

/// The calls in `held` from byte `from` to its end; `scan` has just seen the end.
pub(super) fn calls(held: &str, from: usize, scan: &Scan, declared: &Declared, trust: Trust) -> Option<Vec<TextCall>> {
    let text = held.get(from..)?;
    match read(text) {
        Some(value) => {
            let mut calls = Vec::new();
            add_calls(&value, declared, trust, DEEPEST, &mut calls)?;
            (!calls.is_empty()).then_some(calls)
        }
        None => broken(held, scan, declared, text).map(|call| vec![call]),
    }
}

/// JSON as it is, or else without its small mistakes.
pub(super) fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&mended(text))).ok()
}

/// A call whose arguments are no JSON: the tool it names says so to the model.
fn broken(held: &str, scan: &Scan, declared: &Declared, text: &str) -> Option<TextCall> {
    let arguments = held.get(scan.arguments_from()?..)?.trim_end();
    let (_, after_name) = NAMES.iter().find_map(|key| text.split_once(&format!("\"{key}\"")))?;
    let name = after_name.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?.split('"').next()?;
    declared.has(name).then(|| TextCall {
        name: name.to_owned(),
        arguments: arguments.strip_suffix('}').unwrap_or(arguments).trim_end().to_owned(),
    })
}

fn add_calls(value: &Value, declared: &Declared, trust: Trust, left: usize, calls: &mut Vec<TextCall>) -> Option<()> {
    let left = left.checked_sub(1)?;
    match value {
        Value::Array(values) => values.iter().try_for_each(|value| add_calls(value, declared, trust, left, calls)),
        Value::Object(fields) => {
            let inner = WRAPPERS.iter().filter_map(|key| fields.get(*key)).find(|value| !value.is_string());
            match inner {
                Some(inner) => add_calls(inner, declared, trust, left, calls),
                None => {
                    calls.push(call(fields, declared, trust)?);
                    Some(())
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn call(fields: &Map<String, Value>, declared: &Declared, trust: Trust) -> Option<TextCall> {
    let name = NAMES.iter().find_map(|key| fields.get(*key)?.as_str())?;
    let arguments = match ARGUMENTS.iter().find_map(|key| fields.get(*key)) {
        Some(Value::Object(arguments)) => arguments.clone(),
        Some(Value::String(text)) => match read(text)? {
            Value::Object(arguments) => arguments,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return None,
        },
        // Without arguments only a tool that exists makes it a call.
        Some(Value::Null) | None => declared.has(name).then(Map::new)?,
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => return None,
    };
    let fits = declared.fit(name, &arguments, trust);
    fits.then(|| TextCall { name: name.to_owned(), arguments: Value::Object(arguments).to_string() })
}

/// The same text as JSON, as far as that can be had without guessing at what is meant.
/// Small models break lines inside of texts, escape what has no escape, and put a comma before a closing brace.
pub(super) fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_text = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                in_text = !in_text;
                out.push('"');
            }
            '\\' if in_text => add_escape(characters.next(), &mut out),
            character if in_text && character.is_control() => add_control(character, &mut out),
            ',' if !in_text => {
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
                if !matches!(characters.peek(), Some('}' | ']')) {
                    out.push(',');
                }
            }
            character => out.push(character),
        }
    }
    out
}

fn add_escape(escaped: Option<char>, out: &mut String) {
    match escaped {
        Some(known @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => out.extend(['\\', known]),
        Some('\'') => out.push('\''),
        Some(control) if control.is_control() => add_control(control, out),
        Some(other) => out.extend(['\\', '\\', other]),
        None => out.push_str("\\\\"),
    }
}

fn add_control(character: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => out.push_str(&format!("\\u{:04x}", u32::from(other))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn small_mistakes_are_mended() {
        for (text, wanted) in [
            ("{\"a\":\"one\ntwo\t\"}", r#"{"a":"one\ntwo\t"}"#),
            (r#"{"a":"it\'s \d",}"#, r#"{"a":"it's \\d"}"#),
            ("{\"a\":[1, 2, ], }", r#"{"a":[1,2]}"#),
            ("{\"a\":\"b\\\nc\"}", r#"{"a":"b\nc"}"#),
        ] {
            let mended: Value = serde_json::from_str(&mended(text)).unwrap();
            assert_eq!(mended, serde_json::from_str::<Value>(wanted).unwrap(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_right_stays_what_it_is(texts in prop::collection::vec("\\PC*|[\\n\\t\"\\\\,}\\]]*", 0..4)) {
            let value = Value::from(texts);
            let mended = mended(&value.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&mended).unwrap(), value);
        }
    }
}
