//! `<function=NAME>…</function>`, with JSON or `<parameter=NAME>…</parameter>` inside; the same with
//! `<invoke name="NAME">` and `<parameter name="NAME">`.

use serde_json::{Map, Value};

use super::object;
use super::spot::{Declared, TextCall, Trust};

const CLOSES: [&str; 2] = ["</function>", "</invoke>"];
const PARAMETER: &str = "<parameter";
const PARAMETER_CLOSE: &str = "</parameter>";

/// Whether `body`, which has just got a `>`, ends here. Parameters may hold the tag as text.
pub(super) fn is_closed(body: &str) -> bool {
    CLOSES.iter().any(|close| body.ends_with(close))
        && body.rfind(PARAMETER).is_none_or(|open| body.rfind(PARAMETER_CLOSE) > Some(open))
}

/// The call of `name` with what stands in `body`, whose closing tag may be missing.
pub(super) fn call(name: &str, body: &str, declared: &Declared, trust: Trust) -> Option<TextCall> {
    let body = body.trim();
    let body = CLOSES.iter().find_map(|close| body.strip_suffix(close)).unwrap_or(body).trim();
    let arguments = if body.is_empty() {
        Map::new()
    } else if body.starts_with(PARAMETER) {
        parameters(name, body, declared)?
    } else {
        match object::read(body)? {
            Value::Object(arguments) => arguments,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return None,
        }
    };
    with(name, arguments, declared, trust)
}

/// The call of `name` with these arguments, if they can be meant for it.
pub(super) fn with(name: &str, arguments: Map<String, Value>, declared: &Declared, trust: Trust) -> Option<TextCall> {
    let fits = declared.fit(name, &arguments, trust);
    fits.then(|| TextCall { name: name.to_owned(), arguments: Value::Object(arguments).to_string() })
}

fn parameters(tool: &str, body: &str, declared: &Declared) -> Option<Map<String, Value>> {
    let mut arguments = Map::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix(PARAMETER)?.split_once('>')?;
        let name = name.trim_start().trim_start_matches("name").trim_start().strip_prefix('=')?;
        let name = name.trim().trim_matches(['"', '\'']);
        let (text, after) = after.split_once(PARAMETER_CLOSE)?;
        arguments.insert(name.to_owned(), value(tool, name, text, declared));
        rest = after.trim_start();
    }
    Some(arguments)
}

/// Text stands on lines of its own; other values are JSON.
fn value(tool: &str, name: &str, text: &str, declared: &Declared) -> Value {
    let bare = text.strip_prefix('\n').unwrap_or(text);
    let bare = bare.strip_suffix('\n').unwrap_or(bare);
    if declared.is_text(tool, name) {
        return bare.into();
    }
    serde_json::from_str(bare.trim()).unwrap_or_else(|_| bare.into())
}
