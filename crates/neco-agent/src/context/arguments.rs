//! Arguments of earlier calls: what stands in their place.

use neco_proto::ToolCall;
use neco_toolkit::taken_out;
use serde_json::Value;

/// Bytes of arguments that are long.
const LONG: usize = 1024;
/// Bytes of a value that stays as it is.
const SHORT: usize = 120;

/// Whether the arguments of a call are long and may be others. What the vendor wants back unchanged may vouch for them.
pub(super) fn is_long(call: &ToolCall) -> bool {
    call.arguments.len() > LONG && call.opaque.is_none()
}

/// The arguments of a call in one line: what is short stays, such as a path or a command, and a note stands for what
/// is long, such as the text of a file. Nothing for arguments that are not long or can't be made shorter.
pub(super) fn one_line(call: &ToolCall) -> Option<String> {
    if !is_long(call) {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(&call.arguments) else { return None };
    let line = Value::Object(fields.into_iter().map(|(name, value)| (name, shorter(value))).collect()).to_string();
    (line.len() < call.arguments.len()).then_some(line)
}

fn shorter(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
    };
    if text.len() <= SHORT {
        return value;
    }
    Value::String(taken_out::mark(&text))
}

#[cfg(test)]
mod tests {
    use neco_proto::CallId;
    use serde_json::json;

    use super::*;

    fn call(arguments: String) -> ToolCall {
        ToolCall { id: CallId::generate(), name: "write_file".to_owned(), arguments, opaque: None }
    }

    #[test]
    fn what_is_short_stays_and_a_note_stands_for_what_is_long() {
        let written = call(json!({"path": "src/a.rs", "content": "a line\n".repeat(300), "backup": false}).to_string());
        let line = one_line(&written).unwrap();
        let expected = json!({
            "path": "src/a.rs",
            "content": "[Neco took this out to make room: 300 lines, 2100 bytes]",
            "backup": false
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(one_line(&call(line)), None, "once is enough");
        let edits = call(json!({"edits": vec![json!({"old": "x".repeat(90)}); 20]}).to_string());
        assert!(one_line(&edits).unwrap().contains("1 line, "));
    }

    #[test]
    fn what_is_short_no_json_or_vouched_for_stays() {
        assert_eq!(one_line(&call(json!({"path": "a", "content": "x".repeat(900)}).to_string())), None);
        assert_eq!(one_line(&call("x".repeat(5000))), None);
        let signed = ToolCall { opaque: Some(json!("signature")), ..call(json!({"a": "x".repeat(5000)}).to_string()) };
        assert_eq!(one_line(&signed), None);
    }
}
